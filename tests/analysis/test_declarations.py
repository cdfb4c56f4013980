"""What whoever analyses declares: that lower outcomes are better, that the allocation was fixed in advance."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from adhere import Trial
from adhere.analysis.output.notes import notes_of
from adhere.analysis.output.page import _lead
from adhere.analysis.output.to_json import json_text
from adhere.errors import InputError
from adhere.record_sources import analyse
from cli.running import in_this_process

DEATHS = pl.DataFrame(
    {
        "chosen": ["placebo", "placebo", "drug", "drug"],
        "actual": ["placebo", "placebo", "drug", "drug"],
        "reward": [1, 0, 1, 0],
        "count": [30, 70, 15, 85],
    }
)


def test_every_output_says_which_end_of_the_outcome_is_better() -> None:
    plain = analyse(DEATHS)
    said = "outcome: 1 is read as the better end of the scale"
    assert said in plain.summary(100).replace("\n", " ")
    assert said in _lead(plain)
    assert said == json.loads(json_text(plain))["outcome"]


def test_lower_is_better_turns_outcomes_round_and_says_so() -> None:
    plain, turned = analyse(DEATHS), analyse(DEATHS, lower_is_better=True)
    assert plain.effects.comparisons[0].difference.value == pytest.approx(-0.15)
    assert turned.effects.comparisons[0].difference.value == pytest.approx(0.15)
    assert turned.digest != plain.digest
    said = "outcome: lower is better, read as 1 − the value given"
    assert said in turned.summary(100).replace("\n", " ")
    assert said in _lead(turned)
    read = json.loads(json_text(turned))
    assert (read["outcome"], read["lower_is_better"]) == (said, True)
    assert "benefit 6.7" in turned.summary()
    assert "harm 6.7" not in turned.summary()
    assert any(one.startswith("Lower outcomes were declared better") for one in turned.verdict)


def test_lower_is_better_of_a_trial_and_its_log(tmp_path: Path) -> None:
    trial = Trial("thompson", arms=["none", "walk"], seed=3)
    for number in range(40):
        given = trial.recommend()
        trial.report(given.id, actual=given.arm, reward=number % 3 == 0)
    trial.save(tmp_path / "walk.log")
    plain = analyse(trial, redraws=50)
    turned = analyse(tmp_path / "walk.log", redraws=50, lower_is_better=True)
    for one, other in zip(plain.randomisation, turned.randomisation, strict=True):
        assert one.statistic is not None
        assert (other.statistic, other.p_value) == (-one.statistic, one.p_value)
    assert turned.effects.comparisons[0].difference.value == pytest.approx(
        -(plain.effects.comparisons[0].difference.value or 0.0)
    )
    assert turned.digest != plain.digest
    with pytest.raises(InputError, match=r"^fixed_allocation: .* changed from patient to patient.* leave it out$"):
        analyse(trial, redraws=0, fixed_allocation=True)


def test_a_fixed_allocation_can_be_declared() -> None:
    unknown = "The records lack the probability with which each arm was assigned."
    assert any(one.startswith(unknown) for one in analyse(DEATHS).warnings)
    declared = analyse(DEATHS, fixed_allocation=True)
    assert declared.warnings == ()
    assert declared.fixed_allocation
    assert declared.verdict[1] == (
        "It was declared (--fixed-allocation) that the probabilities of arms were fixed in advance and that this is "
        "the only look; if so, its interval holds."
    )
    undeclared = analyse(DEATHS)
    (warning,) = (one for one in undeclared.warnings if one.startswith(unknown))
    assert warning.endswith("declare it: --fixed-allocation (in Python fixed_allocation=True).")
    no_interval = "there is no interval that holds for adaptive allocation"
    assert any(no_interval in one for one in notes_of(undeclared))
    assert not any(no_interval in one for one in notes_of(declared))
    for shown in (declared.summary(), declared.to_html()):
        assert no_interval not in " ".join(shown.split())
    with pytest.raises(InputError, match="lower_is_better: got 'no', expected True or False"):
        analyse(DEATHS, lower_is_better="no")  # type: ignore[arg-type]
    assert "allocation declared fixed" in declared.summary(200).replace("\n", " ")


@pytest.mark.parametrize("kind", ["each arm", "arm chosen alone"])
def test_probabilities_that_are_missing_for_some_do_not_hide_that_the_others_changed(kind: str) -> None:
    """A single empty cell turned an adaptive trial into one whose allocation could be declared fixed."""
    columns = {"chosen": ["a", "b"] * 20, "actual": ["a", "b"] * 20, "reward": [0, 1, 1, 0] * 10}
    if kind == "each arm":
        frame = pl.DataFrame({**columns, "propensity": [None, 0.5, 0.4, 0.6, *([0.5, 0.5, 0.4, 0.6] * 9)]})
    else:
        third = {name: ["a", "b", "c", *["b", "a"] * 18, "b"] for name in ("chosen", "actual")}
        frame = pl.DataFrame({**columns, **third, "propensity": [0.3, 0.3, 0.4, 0.4, *[0.35] * 36]})
    with pytest.raises(InputError, match="the logged probabilities of arms changed from patient to patient"):
        analyse(frame, fixed_allocation=True)
    found = analyse(frame)
    n_lacking = 1 if kind == "each arm" else 40
    assert (found.adaptive, found.has_probabilities, found.n_without_probabilities) == (True, False, n_lacking)
    assert not found.sequences
    assert not found.aipw
    said = " ".join(found.summary(1000).split())
    many = f"Probabilities of arms are missing for {n_lacking} of 40 patients"
    assert f"fixed-sample intervals do not hold for it. {many}" in said
    assert f"No interval for it holds under this adaptive allocation. {many}" in said
    assert "--fixed-allocation" not in said
    assert "adaptive allocation, probabilities missing for" in said


def test_fixed_probabilities_that_are_missing_for_some_may_be_declared_fixed() -> None:
    columns = {"chosen": ["a", "b"] * 20, "actual": ["a", "b"] * 20, "reward": [0, 1, 1, 0] * 10}
    frame = pl.DataFrame({**columns, "propensity": [None, *[0.5] * 39]})
    found = analyse(frame)
    assert not found.adaptive
    assert "probabilities of arms missing for 1 of 40 patients" in found.summary(1000)
    assert "allocation declared fixed" in analyse(frame, fixed_allocation=True).summary(1000)


def test_the_command_takes_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    DEATHS.write_csv("death.csv")
    done = in_this_process(capsys, "analyse", "death.csv", "--lower-is-better", "--fixed-allocation", "--json", "-")
    assert done.status == 0, done.err
    said = json.loads(done.out)
    assert (said["lower_is_better"], said["fixed_allocation"], said["warnings"]) == (True, True, [])


def test_the_command_calls_the_declaration_by_its_flag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    columns = {"chosen": ["a", "b"] * 20, "actual": ["a", "b"] * 20, "reward": [0, 1, 1, 0] * 10}
    odds = [0.5, 0.5, 0.4, 0.6] * 10
    pl.DataFrame({**columns, "propensity": odds}).write_csv("adaptive.csv")
    done = in_this_process(capsys, "analyse", "adaptive.csv", "--fixed-allocation")
    assert done.status == 2
    assert "--fixed-allocation: the logged probabilities of arms changed from patient to patient" in done.err
    pl.DataFrame(columns).write_csv("plain.csv")
    done = in_this_process(capsys, "analyse", "plain.csv")
    assert "--fixed-allocation" in done.out
