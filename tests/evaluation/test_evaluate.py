"""`adhere.evaluate`: the same numbers to the bit whoever computes them, in memory that does not grow with trials."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars
import pytest
from matplotlib.text import Text

from adhere import Evaluation, InputError, evaluate, load_design
from adhere.design.design import Design
from adhere.design.parts import Looks, Stopping
from adhere.evaluation.output.page import design_sections
from adhere.evaluation.scenarios.scenarios import read_scenarios

from .evaluations import ADAPTIVE, ARMS, GRID, SHORTER, evaluate_designs, numbers


class Heard:
    """Writes down what it hears of the progress; may interrupt when patients are simulated."""

    def __init__(self, interrupts: bool = False) -> None:
        self.said, self.patients, self._interrupts = list[str](), list[int](), interrupts

    def announce(self, message: str) -> None:
        self.said.append(message)

    def advance_to(self, n_patients: int) -> None:
        self.patients.append(n_patients)
        if self._interrupts and n_patients:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def by_one_thread() -> Evaluation:
    return evaluate_designs(n_threads=1, keep_trials=True)


@pytest.mark.parametrize(("n_threads", "patients_per_turn"), [(2, 1 << 18), (5, 700)])
def test_the_number_of_threads_does_not_matter(
    by_one_thread: Evaluation, n_threads: int, patients_per_turn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor how many blocks a thread is given at a time."""
    monkeypatch.setattr("adhere.evaluation.evaluation_plan._PATIENTS_PER_TURN", patients_per_turn)
    again = evaluate_designs(n_threads=n_threads)
    assert numbers(again) == numbers(by_one_thread)
    assert again.kept_trials is None
    assert [len(one.blocks) for one in again.results] == [50] * 8


def test_the_company_does_not_matter(by_one_thread: Evaluation) -> None:
    for alone, among in zip(evaluate_designs(SHORTER).results, by_one_thread.results[1::2], strict=True):
        assert alone.blocks == among.blocks
        assert alone.distributions == among.distributions
        assert alone.differences == ()


def test_progress_counts_patients_and_ends_where_it_should(by_one_thread: Evaluation) -> None:
    heard = Heard()
    again = evaluate_designs(progress=heard, keep_trials=True)
    assert heard.patients == sorted(heard.patients)
    assert heard.patients[-1] == 4 * 900 * (60 + 40)
    assert heard.said[0].startswith("keeping every trial takes ")
    assert numbers(again) == numbers(by_one_thread)


def test_kept_trials_are_those_that_were_measured(by_one_thread: Evaluation) -> None:
    kept = by_one_thread.kept_trials
    assert kept is not None
    assert len(kept) == 8
    for outcomes, result in zip(kept, by_one_thread.results, strict=True):
        sizes = result.distributions.sizes
        np.testing.assert_array_equal(np.bincount(outcomes.n_patients, minlength=len(sizes)), sizes)
        assert len(outcomes.decision) == 900
    # Trial r of both designs: differences one by one, not of means.
    assert kept["sharp null, compliance 70%, confounding 0.1", SHORTER] is kept[0, 1] is list(kept)[1]
    gaps = kept[0, 1].days - kept[0, 0].days
    difference = by_one_thread.results[1].difference("duration")
    assert difference.estimate is not None
    assert difference.estimate.mean == pytest.approx(gaps.mean())
    assert difference.estimate.se == pytest.approx(gaps.std(ddof=1) / 30)


def test_kept_trials_are_a_row_each_in_words(by_one_thread: Evaluation) -> None:
    kept = by_one_thread.kept_trials
    assert kept is not None
    assert repr(kept) == "KeptTrials: 7,200 in all, in 4 scenarios of 2 designs; see .to_polars()"
    frame = kept.to_polars()
    assert frame.height == 7200
    assert list(kept.to_pandas().columns) == frame.columns
    scenario = "effect 0.2, compliance 70%, confounding 0.1"
    found, own = by_one_thread[scenario, "shorter"], frame.filter(scenario=scenario, design="shorter")
    assert own["trial"].to_list() == list(range(900))
    for name, key, share in (
        ("superior", (), (own["decision"] == "superior").mean()),
        ("inconclusive", ("new",), (own["status_new"] == "inconclusive").mean()),
        ("selected", ("new",), (own["selected"] == "new").mean()),  # the same word for the same thing
        ("n_recommended", ("new",), own["n_recommended_new"].mean()),
        ("outcome", (), own["outcome"].mean()),
        ("coverage", ("new", "compliers", "any-time valid"), own["covers_new_compliers"].mean()),
    ):
        estimate = found.find(name, *key).estimate
        assert estimate is not None
        assert estimate.mean == pytest.approx(share), name
    assert own.filter(status_new="inconclusive")["look_new"].is_null().all()
    assert own.filter(status_new="superior")["look_new"].is_in([1, 2]).all()
    assert "estimate_old_compliers" not in frame.columns
    estimates = own["estimate_new_compliers"]  # none where too little was left to chance
    assert 0 < estimates.null_count() < 180
    assert estimates.drop_nulls().is_between(-1.0, 1.0).all()
    of_prior = frame.filter(~polars.col("scenario").cast(str).str.contains("compliance"))
    assert of_prior["covers_new_compliers"].is_null().all()


def test_what_keeping_trials_takes_is_said_without_a_terminal_too(capfd: pytest.CaptureFixture[str]) -> None:
    for progress, said in ((None, True), (False, False)):
        evaluate(SHORTER, GRID, 20, keep_trials=True, progress=progress)
        assert capfd.readouterr().err.startswith("keeping every trial takes ") is said


def test_more_trials_than_fit_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adhere.simulation.execution.plan.available_memory", lambda: 1_000_000)
    with pytest.raises(InputError, match=r"^keep_trials: 900 trials take .* MB of memory, and 1 MB are available"):
        evaluate_designs(keep_trials=True)


def test_an_interrupt_leaves_threads_that_can_be_used_again(by_one_thread: Evaluation) -> None:
    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(KeyboardInterrupt):
            evaluate(ADAPTIVE, GRID, 10**9, executor=pool, progress=Heard(interrupts=True))
        assert numbers(evaluate_designs(executor=pool)) == numbers(by_one_thread)


def test_looks_in_vain_are_said() -> None:
    def notes(**thresholds: float) -> tuple[str, ...]:
        stopping = Stopping("posterior", **thresholds)  # type: ignore[arg-type]
        return evaluate(msgspec.structs.replace(ADAPTIVE, stopping=stopping), GRID, 50).notes

    always, never = {"equivalence": 0.5, "margin": 0.99}, {"superiority": 0.99999}
    assert notes(**always) == ("adaptive: every trial stopped at its first look, in every scenario",)
    assert notes(**never) == ("adaptive: no trial stopped before its end, in any scenario",)
    (warning,) = notes(superiority=0.5)
    assert warning.startswith("adaptive: stopping.superiority: some arm always reaches 0.5")
    assert notes(superiority=0.9) == ()


def test_a_file_says_the_design_and_its_scenarios(tmp_path: Path) -> None:
    path = tmp_path / "shorter.toml"
    grid = "\n".join(f"{name} = {values}" for name, values in GRID.items())
    path.write_text(f"{SHORTER.to_toml()}\n[scenarios]\n{grid}\n", encoding="utf-8")
    from_file, from_values = evaluate(str(path), n_trials=20), evaluate(SHORTER, GRID, n_trials=20)
    assert numbers(from_file) == numbers(from_values)
    (note,) = [one for one in evaluate(load_design(path), n_trials=20).notes if one.startswith("scenarios")]
    assert note.endswith(
        "baseline 0.5, effect 0.1 and 0.2, compliance 100% and 70%, confounding 0.2, average null ±0.2"
    )
    assert not [one for one in (*from_file.notes, *from_values.notes) if one.startswith("scenarios")]
    assert from_values["effect 0.2, compliance 70%, confounding 0.1", SHORTER] is from_values.results[-1]


@pytest.mark.slow
def test_memory_does_not_grow_with_trials() -> None:
    """Far less than a row of numbers for each trial takes."""
    short, n_trials = msgspec.structs.replace(SHORTER, n_patients=20), 60_000
    scenario = read_scenarios(GRID, short)[0]
    tracemalloc.start()
    (result,) = evaluate(short, scenario, n_trials, progress=False, n_threads=1).results
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.n_trials == n_trials
    assert peak < 8 * n_trials * result.columns.n_columns / 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n_trials": 0}, r"^n_trials: got 0, expected a whole number"),
        ({"designs": []}, r"^designs: none given; expected at least one$"),
        ({"designs": 7}, r"^design: got 7, expected a file"),
        ({"designs": [ADAPTIVE, ADAPTIVE]}, r"^designs: 'adaptive' is listed twice$"),
        (
            {"designs": [ADAPTIVE, msgspec.structs.replace(SHORTER, arms=("new", "old"))]},
            r"^arms of shorter: got 'new, old', expected those of adaptive, old, new, to compare them$",
        ),
        ({"scenarios": "defiers"}, r"^scenarios: 'defiers' has the arms .*; the design has old, new$"),
        (
            {"designs": msgspec.structs.replace(SHORTER, n_patients=None, looks=Looks(), stopping=None)},
            r"^n_patients of shorter: got None, expected",
        ),
        ({"seed": -1}, r"^seed: got -1, expected"),
        ({"device": "tpu"}, r"^device: got 'tpu', expected cpu or cuda"),
        ({"n_threads": 0}, r"^n_threads: got 0, expected a whole number"),
        ({"executor": 4}, r"^executor: got 4, expected a concurrent\.futures\.Executor"),
    ],
)
def test_bad_input_is_a_sentence(arguments: dict[str, Any], says: str) -> None:
    good: dict[str, Any] = {"designs": SHORTER, "scenarios": GRID, "n_trials": 10}
    with pytest.raises(InputError, match=says):
        evaluate(**good | arguments)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "arms", "strata"),
    [
        ("burn-in(uniform, patients=42, block=4)", ARMS, ()),
        ("burn-in(uniform, patients=42)", ("old", "low", "high"), ("young", "old")),
    ],
)
def test_a_trial_in_permuted_blocks_is_never_worse_than_randomisation(
    policy: str, arms: tuple[str, ...], strata: tuple[str, ...]
) -> None:
    """Its last block, in each stratum, may have been cut: that is no harm."""
    rules = Stopping("posterior", superiority=0.8)
    design = Design("1:1", policy, arms, 42, strata=strata, control="old", looks=Looks(at=(11, 25)), stopping=rules)
    found = evaluate(design, {"effect": [0.3]}, 400, progress=False, keep_trials=True)
    assert found.kept_trials is not None
    chosen = found.kept_trials["effect 0.3, compliance 100%", design].chosen
    assert (chosen[:, 0] > chosen[:, -1]).any()  # so a block of some trials was cut to their harm
    risk = found["effect 0.3, compliance 100%", design].find("worse_than_randomisation")
    assert risk.estimate is not None
    assert risk.estimate.mean == 0.0


LOWER = msgspec.structs.replace(SHORTER, lower_is_better=True)


def test_lower_outcomes_may_be_the_better_ones() -> None:
    """The arm with the lower mean is found superior, and everything is of 1 − the outcome."""
    found = evaluate(LOWER, {"baseline": 0.7, "effect": [-0.4], "compliance": [0.8]}, 300, progress=False)
    lowered = found["effect -0.4, compliance 80%"]
    np.testing.assert_allclose(lowered.truth.means, 1.0 - np.array([0.66, 0.34]))
    np.testing.assert_allclose(lowered.truth.effects[1], [0.32, 0.4])
    turned = evaluate(SHORTER, {"baseline": 0.3, "effect": [0.4], "compliance": [0.8]}, 300, progress=False)
    same = turned["effect 0.4, compliance 80%"]
    for name in ("power", "wrong_claim", "superior", "outcome", "surplus", "recommended_inferior", "sample_size"):
        one, other = (each.find(name).estimate for each in (lowered, same))
        assert one is not None
        assert other is not None
        assert one.mean == pytest.approx(other.mean, abs=4.0 * (one.se or 0.0) + 4.0 * (other.se or 0.0) + 1e-9)
    superior = lowered.find("superior", "new").estimate
    assert superior is not None
    assert superior.mean > 0.5
    assert found.notes[0].startswith("lower outcomes are better: every outcome y is read as 1 − y")
    assert "lower outcomes are better" in found.summary()


def test_a_report_names_the_scale_of_each_section() -> None:
    """Scenarios are in y, as their file has them; what trials estimate is in 1 − y."""
    grid = {"baseline": 0.7, "effect": [-0.4], "compliance": [0.8], "confounding": [0, 0.1]}
    found = evaluate(LOWER, grid, 20, progress=False)
    sections = {one.name: one for one in design_sections(found)}
    table = sections["scenarios"].listings[0]
    assert table.caption == "Scenarios, and the mean outcome y of those who are recommended each arm"
    row = next(one for one in table.rows if one[0].startswith("effect"))
    shown = dict(zip(table.header, row, strict=True))
    assert (shown["baseline"], shown["if recommended old"], shown["if recommended new"]) == ("0.7", "0.660", "0.340")
    details = " ".join(sections["scenarios"].details)
    assert "a mean outcome y is the share of patients with a 1" in details
    assert "the amount by which the mean outcome y of those who always take the treatment is higher" in details
    assert "mean outcome of" not in details
    assert "the lowest mean outcome y" in " ".join(sections["power"].details)
    for name, label in (
        ("power", "effect of taking the treatment on the mean outcome y (below 0 is good)"),
        ("errors", "confounding: how much worse than others always-takers do, and never-takers better (y)"),
    ):
        drawn = sections[name].figures[0].draw().findobj(Text)
        assert label in [" ".join(text.get_text().split()) for text in drawn if isinstance(text, Text)]
    benefit = sections["allocation"].listings[1]
    assert ("mean of 1 − y" in benefit.header, "mean outcome" in benefit.header) == (True, False)
    assert sections["estimates"].listings[0].caption.startswith("Estimates of effects on 1 − y:")


def test_default_effects_are_benefits_also_where_lower_is_better() -> None:
    found = evaluate(LOWER, None, 20, progress=False)
    assert {one.effect for one in found.scenarios} == {0.0, -0.1, -0.2}


def test_designs_that_read_outcomes_differently_are_not_compared() -> None:
    other = msgspec.structs.replace(ADAPTIVE, name="other")
    with pytest.raises(InputError, match=r"lower_is_better of other: got False, expected true, as in shorter"):
        evaluate([LOWER, other], GRID, 20, progress=False)
