"""What is true and believed, against the populations' own exact values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from adhere.exploration.presets import PRESETS, Group, population_of, preset_groups
from adhere.exploration.protocol_beliefs import PROTOCOLS, belief_of, credited, truth_of
from adhere.populations import rich_and_poor, stroke_aspirin
from adhere_client.responses.simulations import Pair

from .people import any_groups, groups


def as_numbers(pair: Pair) -> list[float]:
    return [math.nan if mean is None else mean for mean in pair]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(any_groups())
def test_they_are_those_of_the_population(found: tuple[Group, ...]) -> None:
    population = population_of(found)
    np.testing.assert_allclose(truth_of(found).mean_given_chosen, population.mean_given_chosen())
    np.testing.assert_allclose(as_numbers(credited(found, "chosen")), population.mean_given_chosen())
    for share in (0.5, 0.2):
        expected = population.mean_given_actual([1 - share, share])
        np.testing.assert_allclose(as_numbers(credited(found, "actual", share)), expected)
    np.testing.assert_allclose(as_numbers(credited(found, "comply")), np.diag(population.mean_given_both()))


@pytest.mark.parametrize("preset", [preset.name for preset in PRESETS])
def test_chosen_is_right_about_recommending_in_every_preset(preset: str) -> None:
    assert belief_of(preset_groups(preset), "chosen").verdict == "right"


def test_rich_and_poor_are_those_of_the_paper() -> None:
    found = preset_groups("rich-and-poor")
    assert [belief_of(found, protocol).verdict for protocol in PROTOCOLS] == ["right", "fooled", "undecided"]
    np.testing.assert_allclose(population_of(found).reward_mass(), rich_and_poor().reward_mass())
    assert truth_of(found).mean_if_taken == (0.75, 0.5)


def test_the_compliance_types_of_the_stroke_trial_are_seen_as_its_counts_are() -> None:
    ours, counts = population_of(preset_groups("stroke-aspirin")), stroke_aspirin()
    np.testing.assert_allclose(ours.compliance(), counts.compliance())
    np.testing.assert_allclose(ours.reward_mass(), counts.reward_mass())


def test_actual_may_be_right_or_not_by_how_often_each_arm_is_recommended() -> None:
    found = groups((0.2, 0.9, 0.9), (0.2, 0.55, 0.55), (0.6, 0.4, 0.6), (0, 0, 0))
    belief = belief_of(found, "actual")
    assert belief.verdict == "depends"
    assert belief.lowest[0] == pytest.approx(credited(found, "actual", 0.01)[0])
    assert belief.highest[0] == pytest.approx(credited(found, "actual", 0.99)[0])
