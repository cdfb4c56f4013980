"""Operating characteristics of trials made by hand, against what Python's statistics say of the same trials."""

from __future__ import annotations

from statistics import fmean, stdev

import msgspec
import numpy as np
import pytest

from adhere.errors import InputError
from adhere.evaluation.characteristics.characteristics import Characteristic
from adhere.evaluation.characteristics.quantities import MEANINGS
from adhere.evaluation.scenarios.scenarios import read_scenarios
from adhere.looks.judge import EQUIVALENT, FUTILE, GO_ON, INFERIOR, SUPERIOR
from adhere.populations import Counts, uniform_any
from evaluation.made_characteristics import GRID, N_LOOKS, made_characteristics, made_design, trials_of
from evaluation.plain_measure import PlainMeasure

NAN = float("nan")
GRID_TABLE = {"effect": 0.1, "compliance": 0.7, "confounding": 0.2}


def test_every_characteristic_is_what_it_says() -> None:
    """Effect 0.1 among 70% compliers: the means given chosen are 0.5 and 0.57, less confounding's nothing."""
    design = made_design()
    *_, effect = read_scenarios(GRID_TABLE, design)
    trials = trials_of(design, 50, seed=5)
    found = made_characteristics(design, effect, trials)
    means = found.truth.means.tolist()
    assert means[1] - means[0] == pytest.approx(0.07)
    plain = [
        PlainMeasure(
            trial,
            means=means,
            if_taken=[0.5, 0.6],
            complier_effects=[NAN, 0.1],
            control=0,
            grid=GRID,
            n_looks=N_LOOKS,
        )
        for trial in trials
    ]
    sizes, days = [one.n for one in plain], [one.trial.days for one in plain]
    wald = [one.estimate()[0][1][1] for one in plain]
    known = [numbers for numbers in wald if numbers[0]]
    sure = [numbers for numbers in wald if numbers[3]]
    bets = [one.estimate()[1][1][1] for one in plain]
    assert 0 < len(known) < 50
    assert 0 < len([one for one in bets if one[0]]) < 50
    compliers = ("new", "compliers", "naive")
    expected: dict[tuple[str | None, ...], float] = {
        ("power",): fmean(one.right_claim()[2] for one in plain),
        ("power", "new"): fmean(one.trial.status[1] == SUPERIOR for one in plain),
        ("wrong_claim",): fmean(one.trial.status[1] == INFERIOR for one in plain),
        ("superior",): fmean(one.trial.decision == SUPERIOR for one in plain),
        ("inferior",): fmean(one.trial.decision == INFERIOR for one in plain),
        ("equivalent",): fmean(one.trial.decision == EQUIVALENT for one in plain),
        ("futile",): fmean(one.trial.decision == FUTILE for one in plain),
        ("inconclusive",): fmean(one.trial.decision == GO_ON for one in plain),
        ("futile", "new"): fmean(one.trial.status[1] == FUTILE for one in plain),
        ("inconclusive", "old"): 1.0,
        ("select_best",): fmean(one.trial.selected == 1 for one in plain),
        ("selected", "old"): fmean(one.trial.selected == -1 for one in plain),
        ("sample_size",): fmean(sizes),
        ("sample_size_sd",): stdev(sizes),
        ("sample_size_q05",): sorted(sizes)[2],
        ("sample_size_q50",): sorted(sizes)[24],
        ("duration",): fmean(days),
        ("duration_sd",): stdev(days),
        ("n_looks",): fmean(one.trial.n_looks for one in plain),
        ("n_recommended", "new"): fmean(one.chosen()[1] for one in plain),
        ("allocation", "new"): fmean(one.allocation()[1] for one in plain),
        ("taken", "new"): fmean(one.taken()[1] for one in plain),
        ("recommended_inferior",): fmean(one.allocation()[0] for one in plain),
        ("took_inferior",): fmean(one.taken()[0] for one in plain),
        ("outcome",): fmean(one.outcome() for one in plain),
        ("surplus",): fmean(0.035 * (one.chosen()[1] - one.chosen()[0]) for one in plain),
        ("realised_surplus",): fmean(one.realised_surplus() for one in plain),
        ("worse_than_randomisation",): fmean(one.chosen()[1] < one.chosen()[0] for one in plain),
        ("ideal_recommending",): 100 * fmean(one.trial.selected == 1 for one in plain),
        ("ideal_treating",): 100 * fmean(one.trial.selected == 1 for one in plain),
        ("estimable", *compliers): len(known) / 50,
        ("bias", *compliers): fmean(one[1] for one in known),
        ("rmse", *compliers): fmean(one[2] for one in known) ** 0.5,
        ("coverage", *compliers): fmean(one[4] for one in sure),
        ("bias", "new", "compliers", "any-time valid"): fmean(one[1] for one in bets if one[0]),
        ("coverage", "new", "compliers", "any-time valid"): fmean(one[4] for one in bets if one[3]),
        ("bias", "new", "intention-to-treat", "any-time valid"): fmean(
            one.trial.estimate[1][0] - 0.07 for one in plain
        ),
    }
    for key, value in expected.items():
        one = found.find(*(str(word) for word in key))
        assert one.estimate is not None, key
        assert one.estimate.mean == pytest.approx(value), key
        assert one.reason == ""
    quantile = found.find("duration_q75").estimate
    assert quantile is not None
    assert quantile.mean == sorted(days)[37]  # the 38th of 50: exactly, since there are few
    assert {one.meaning for one in found.table} == set(MEANINGS.values())
    assert found.n_trials == 50


def _reasons(found: tuple[Characteristic, ...]) -> dict[tuple[str | None, ...], str]:
    for one in found:
        assert (one.estimate is None) == bool(one.reason), one
        assert one.estimate is None or not np.isnan([one.estimate.mean, one.estimate.se or 0.0]).any(), one
    return {tuple(filter(None, one[:4])): one.reason for one in found if one.reason}


def test_what_has_no_meaning_is_none_with_a_reason() -> None:
    design = made_design()
    sharp, average, effect = read_scenarios(GRID_TABLE, design)
    trials = trials_of(design, 20, seed=1)
    of_null = _reasons(made_characteristics(design, sharp, trials).table)
    equal = "all arms are equally good to recommend"
    names = ("power", "wrong_claim", "select_best", "recommended_inferior", "worse_than_randomisation")
    assert {name: of_null[(name,)] for name in names} == dict.fromkeys(names, equal)
    assert of_null["ideal_treating",] == of_null["took_inferior",] == "all arms are equally good to take"
    assert of_null["type_one", "old"] == "it is the control, which the other arms are compared with"
    assert of_null["power", "new"] == "the arm does not differ"
    assert ("type_one",) not in of_null
    assert not [key for key in of_null if key[0] in ("bias", "rmse", "coverage", "interval_error")]

    of_average = _reasons(made_characteristics(design, average, trials).table)
    only_sharp = "claims about compliers are judged under the sharp null only"
    assert of_average["interval_error", "new", "compliers", "naive"] == only_sharp
    assert ("interval_error", "new", "intention-to-treat", "naive") not in of_average

    of_effect = _reasons(made_characteristics(design, effect, trials).table)
    assert of_effect["type_one",] == "every arm that could be claimed to differ does differ"
    assert of_effect["interval_error", "new", "intention-to-treat", "naive"] == "there is an effect"
    assert of_effect["interval_error", "new", "compliers", "naive"] == only_sharp
    assert of_effect["type_one", "new"] == "the arm does differ"
    assert len(of_effect) == 9

    silent = msgspec.structs.replace(design, stopping=None, estimands=("intention-to-treat",))
    of_silent = made_characteristics(silent, effect, trials)
    for name in ("type_one", "power", "superior", "inconclusive"):
        assert of_silent.find(name).reason == "the design has no stopping rule, so its trials claim nothing"
    assert {one.estimand for one in of_silent.table} == {None, "intention-to-treat"}


def test_the_error_of_an_interval_is_what_it_does_not_cover_under_a_null() -> None:
    design = made_design()
    sharp, *_ = read_scenarios(GRID_TABLE, design)
    found = made_characteristics(design, sharp, trials_of(design, 40, seed=2))
    for view in ("intention-to-treat", "compliers"):
        for method in ("naive", "any-time valid"):
            error = found.find("interval_error", "new", view, method).estimate
            covers = found.find("coverage", "new", view, method).estimate
            assert error is not None
            assert covers is not None
            assert error.mean == pytest.approx(1 - covers.mean)
            assert error.low == pytest.approx(1 - (covers.high or 0.0))


def test_a_population_that_says_less_leaves_less_to_say() -> None:
    design = made_design()
    counted = Counts("counted", ("old", "new"), [("old", "old", 0.0), ("new", "new", 1.0)])  # type: ignore[list-item]
    trials = trials_of(design, 20, seed=1)
    of_counts = _reasons(made_characteristics(design, read_scenarios(counted, design)[0], trials).table)
    assert of_counts["took_inferior",] == "the scenario does not say what would follow if everybody took each arm"
    assert "does not say who they are" in of_counts["bias", "new", "compliers", "naive"]
    drawn = made_design(arms=("first", "second"), control="first")
    found = made_characteristics(drawn, read_scenarios(uniform_any(), drawn)[0], trials)
    of_prior = _reasons(found.table)
    prior = "each trial has a population of its own, drawn from a prior"
    assert of_prior["type_one",] == f"{prior}; its arms always differ"
    assert of_prior["coverage", "second", "intention-to-treat", "any-time valid"] == prior
    assert of_prior["bias", "second", "compliers", "naive"] == prior
    for key in (("power",), ("power", "second"), ("select_best",), ("bias", "second", "intention-to-treat", "naive")):
        assert key not in of_prior


def test_without_a_control_only_the_one_best_arm_can_be_found() -> None:
    design = made_design(arms=("a", "b", "c"), control=None)
    *_, effect = read_scenarios(GRID_TABLE, design)
    found = made_characteristics(design, effect, trials_of(design, 20, seed=1))
    assert found.find("power", "c").estimate == found.find("power").estimate
    assert found.find("power", "a").reason == "another arm is better"
    assert found.find("type_one").reason == "every arm that could be claimed to differ does differ"
    for key, says in (
        # a is what the others are compared with
        (("bias", "a", "compliers", "naive"), "arm of bias: got 'a', expected one of b, c"),
        (("bias", "b", "itt"), "estimand of bias: got 'itt', expected one of intention-to-treat, compliers"),
        (("bias", "b", "compliers"), "method of bias: got None, expected one of naive, any-time valid"),
        (("power", "d"), "arm of power: got 'd', expected none or one of a, b, c"),
        (("n_looks", "b"), "arm of n_looks: got 'b', expected none"),
    ):
        with pytest.raises(InputError) as refused:
            found.find(*key)
        assert str(refused.value) == says
    with pytest.raises(InputError, match=r"characteristic: got 'powr', .*did you mean 'power'"):
        found.find("powr")


def test_along_the_trial_and_over_looks() -> None:
    design = made_design()
    *_, effect = read_scenarios(GRID_TABLE, design)
    trials = trials_of(design, 50, seed=5)
    found = made_characteristics(design, effect, trials)
    along = found.over_time("new")
    allocation = found.find("allocation", "new").estimate
    assert allocation is not None
    assert along.t.tolist() == list(GRID)
    assert along.mean[-1] == pytest.approx(allocation.mean)  # the last point is the largest number of patients
    np.testing.assert_allclose(along.mean + found.over_time("old").mean, 1.0)
    np.testing.assert_allclose(found.running().mean, [fmean(len(one.patients) >= t for one in trials) for t in GRID])
    by_look = found.by_look()
    assert list(by_look) == ["running", "superior", "inferior", "equivalent", "futile"]
    np.testing.assert_allclose(sum(one.mean for one in by_look.values()), 1.0)
    for name in ("superior", "inferior", "equivalent", "futile"):
        assert (np.diff(by_look[name].mean) >= 0).all()
        decided = found.find(name).estimate
        assert decided is not None
        assert by_look[name].mean[-1] == pytest.approx(decided.mean)
    after = found.convergence("power")
    assert [n for n, _ in after] == [16, 32, 48, 50]
    assert after[-1][1] == found.find("power").estimate
    assert found.convergence("type_one") == found.convergence("sample_size_q50") == ()
    with pytest.raises(InputError, match=r"arm: got 'newer', .*did you mean 'new'"):
        found.over_time("newer")


def test_differences_are_of_the_same_trials() -> None:
    first, second = made_design("first"), made_design("second")
    *_, effect = read_scenarios(GRID_TABLE, first)
    trials, others = trials_of(first, 50, seed=5), trials_of(second, 50, seed=6)
    found, reference = (
        made_characteristics(second, effect, others, trials),
        made_characteristics(first, effect, trials),
    )
    for name in ("power", "sample_size", "surplus", "took_inferior"):
        own, old, difference = (
            found.find(name).estimate,
            reference.find(name).estimate,
            found.difference(name).estimate,
        )
        assert own is not None
        assert old is not None
        assert difference is not None
        assert difference.mean == pytest.approx(own.mean - old.mean)
    sizes = [len(one.patients) - len(other.patients) for one, other in zip(others, trials, strict=True)]
    of_size = found.difference("sample_size").estimate
    assert of_size is not None
    assert of_size.se == pytest.approx(stdev(sizes) / 50**0.5)
    assert reference.difference("power").reason == "this is the reference design"
    assert found.difference("type_one").reason == found.find("type_one").reason
    assert found.difference("sample_size_sd").reason.startswith("it is no mean over trials")
