"""The sentence names whoever is fooled, and no other, whatever the setting."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from adhere.exploration.presets import Group, preset_groups
from adhere.exploration.protocol_beliefs import PROTOCOLS, belief_of, truth_of
from adhere.exploration.sentences import headline, with_sentences

from .people import any_groups, groups

NOBODY = (0.0, 0.5, 0.5)


def said(found: tuple[Group, ...]) -> str:
    return headline(found, truth_of(found), [belief_of(found, protocol) for protocol in PROTOCOLS])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(any_groups())
def test_it_names_those_who_are_fooled(found: tuple[Group, ...]) -> None:
    beliefs = with_sentences(found, truth_of(found), [belief_of(found, protocol) for protocol in PROTOCOLS])
    sentence = said(found)
    fooled = [one.protocol.capitalize() for one in beliefs if one.verdict in ("fooled", "depends")]
    assert sentence.startswith("Nobody is fooled") == (not fooled)
    assert all(name in sentence for name in fooled)
    assert "Chosen" not in fooled
    assert "nan" not in sentence
    assert "None" not in sentence
    assert sentence.endswith(".")
    assert sentence.count(".") - sum(sentence.count(f".{digit}") for digit in range(10)) == 1
    assert all(one.sentence.endswith(".") for one in beliefs)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(any_groups())
def test_who_is_blamed_fares_as_it_says(found: tuple[Group, ...]) -> None:
    sentence = said(found)
    for name, arm in (("always-takers", 1), ("never-takers", 0)):
        who = f"{name}, who take the {('control', 'treatment')[arm]} whatever they are told, fare "
        if who in sentence:
            how = sentence.split(who)[1]
            own, others = (float(part.split(")")[0]) for part in how.split("(")[1:3])
            group = next(group for group in found if group.name == name)
            assert group.share > 0
            assert own == pytest.approx(group.rewards[arm], abs=0.001)
            assert how.startswith("better") == (own > others)


@pytest.mark.parametrize(
    ("found", "parts"),
    [
        (preset_groups("rich-and-poor"), ["Actual is fooled", "0.125", "always-takers", "Comply sees no difference"]),
        (preset_groups("defiers"), ["Actual is fooled", "opposite", "Comply credits nobody to either arm"]),
        (preset_groups("corrective"), ["Nobody is fooled", "all see it", "Actual sees a wider difference (0.165)"]),
        (groups((0.5, 0.6, 0.6), (0.5, 0.8, 0.8), NOBODY, NOBODY), ["does not matter", "next to nobody", "by 0.2"]),
        (groups(NOBODY, NOBODY, (1, 0.5, 0.5), NOBODY), ["Nobody is fooled", "no difference to compliers"]),
        (groups(NOBODY, NOBODY, (0.5, 0.5, 0.7), (0.5, 0.5, 0.7)), ["does not matter", "undoes for defiers"]),
        (groups(NOBODY, NOBODY, (0.99, 0.5, 0.5), (0.01, 0.5, 0.54)), ["to whom it matters (defiers) are very few"]),
        (
            groups((0.3, 0.8, 1.0), (0.3, 0.0, 0.6), (0.1, 0.5, 0.6), (0.3, 0.9, 0.6)),
            ["for them and compliers together the arm that is better to take is worse to recommend"],
        ),
        (groups((0.45, 0.6, 0.6), (0.45, 0.6, 0.6), (0.1, 0.5, 0.6), NOBODY), ["Nobody is fooled", "only 10%"]),
        (groups((0.3, 0.9, 0.6), (0.2, 0.8, 0.2), (0.5, 0.4, 0.6), NOBODY), ["Actual and Comply", "never-takers"]),
        (groups((0.2, 0.9, 0.9), (0.2, 0.55, 0.55), (0.6, 0.4, 0.6), NOBODY), ["fooled at times", "told to take"]),
    ],
)
def test_each_kind_of_setting_has_its_sentence(found: tuple[Group, ...], parts: list[str]) -> None:
    sentence = said(found)
    assert [part for part in parts if part not in sentence] == []
