from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars
import pytest

from adhere import simulate
from adhere.report.section import Section
from adhere.simulation import SimulationResult
from adhere.studies.propositions.study import ALIKE, CONTROL_SHARES, FAVOURITES, MILD, STUDY, UNLIKE, Mixture
from studies.sections import check_texts_are_whole, prose

Tables = Mapping[str, polars.DataFrame]


@pytest.fixture(scope="module")
def results() -> dict[str, SimulationResult]:
    return {
        name: simulate(
            one.policies, one.populations, one.n_patients, one.n_runs, seed=5, reference=one.reference, grid=one.grid
        )
        for name, one in STUDY.experiments(True).items()
    }


@pytest.fixture(scope="module")
def tables(results: dict[str, SimulationResult]) -> Tables:
    return STUDY.tables(results)


PROOF = "Proof of Proposition 3: "


def verdicts(section: Section) -> dict[str, str]:
    """By what each claim begins with, or by what it says of the proof of Proposition 3."""
    return {claim.statement.removeprefix(PROOF).split(":")[0]: claim.verdict for claim in section.claims}


EXPECTATIONS = "Expectations in the proofs of Propositions 2 and 3"
ELSEWHERE, OVER_ACTUAL, OVER_CHOSEN = (
    "in the setting of Proposition 2, Comply outperforms Chosen",
    "in its own setting, Comply outperforms Actual",
    "In the setting of the proof of Proposition 3, Comply against Chosen",
)


def test_what_a_tenth_of_the_runs_finds(tables: Tables) -> None:
    section = STUDY.render(tables)
    agreeing = (EXPECTATIONS, "Proposition 2", "Proposition 3", ELSEWHERE, OVER_ACTUAL)
    expected = {**dict.fromkeys(agreeing, "agrees"), OVER_CHOSEN: "ours"}
    assert verdicts(section) == expected
    assert "more than Chosen with 3" in prose(section)
    assert "Comply sees a gap of -0.003, Chosen of 0.135" in prose(section)
    assert section.uncertainty.startswith("Means over 300 runs of 500 patients")
    assert section.result.startswith("Both exist: Actual has the least regret with 3 of 3 learners")
    check_texts_are_whole(section)
    assert len(prose(section).split()) < 300


def test_the_formulas_worked_by_hand() -> None:
    assert ALIKE.expected(0.5)["chosen", 0] == pytest.approx(0.75 * 0.3 + 0.25 * 0.6)
    assert UNLIKE.expected(0.9)["actual", 0] == pytest.approx(0.3315 / 0.705)
    assert UNLIKE.expected(0.9)["actual", 1] == pytest.approx(0.077 / 0.295)
    assert MILD.expected(0.5)["comply", 1] == pytest.approx(0.3105 / 0.55)


def test_a_formula_that_is_wrong_is_found_out(tables: Tables) -> None:
    wrong = tables["expectations"].with_columns(
        formula=polars.when(protocol="comply", arm="control").then(polars.col("formula") + 0.01).otherwise("formula")
    )
    section = STUDY.render({**tables, "expectations": wrong})
    assert verdicts(section)[EXPECTATIONS] == "differs"
    assert "differ from the populations' own, and 1,000,000 simulated patients do not meet them" in prose(section)


def shifted(regret: polars.DataFrame, population: str, protocol: str, by: float) -> polars.DataFrame:
    """The differences of one protocol, moved."""
    here = (polars.col("population") == population) & (polars.col("protocol") == protocol)
    columns = [polars.col(name) + by * here for name in ("difference", "difference_low", "difference_high")]
    return regret.with_columns(columns)


def test_a_protocol_that_is_not_best_is_reported(tables: Tables) -> None:
    regret = shifted(tables["regret"], ALIKE.name, "comply", -100.0)
    assert verdicts(STUDY.render({**tables, "regret": regret}))["Proposition 2"] == "in part"
    regret = shifted(regret, ALIKE.name, "chosen", -100.0)
    section = STUDY.render({**tables, "regret": regret})
    assert verdicts(section)["Proposition 2"] == "differs"
    assert section.result.startswith("Only the second is found: ")
    assert "Chosen and Comply with 0 of 3" in prose(section)
    assert "Chosen has less with 3 and Comply has less with 3" in prose(section)


def test_an_interval_that_holds_zero_decides_nothing(tables: Tables) -> None:
    wide = tables["regret"].with_columns(difference_low=polars.lit(-1000.0), difference_high=polars.lit(1000.0))
    section = STUDY.render({**tables, "regret": wide})
    assert verdicts(section)["Proposition 2"] == verdicts(section)["Proposition 3"] == "differs"
    assert "less than Chosen with 0 and more than Chosen with 0" in prose(section)
    assert "has less with" not in prose(section)


def test_were_comply_best_in_the_setting_of_the_proof(tables: Tables) -> None:
    section = STUDY.render({**tables, "regret": shifted(tables["regret"], UNLIKE.name, "chosen", 100.0)})
    (claim,) = [one for one in section.claims if one.statement == OVER_CHOSEN]
    assert claim.ours.startswith("less regret with 3 of 3 learners")
    assert "Other numbers" not in prose(section)


def test_comply_and_chosen_whose_intervals_meet_are_not_told_apart(tables: Tables) -> None:
    comply = tables["regret"].filter(population=ALIKE.name, learner="UCB1", protocol="comply")["low"][0]
    meets = (polars.col("learner") == "UCB1") & (polars.col("protocol") == "chosen")
    regret = tables["regret"].with_columns(low=polars.when(meets).then(comply).otherwise("low"))
    assert verdicts(STUDY.render({**tables, "regret": regret}))[ELSEWHERE] == "in part"


def test_the_populations_can_be_built_from_the_listing(tables: Tables) -> None:
    rows = [row for row in STUDY.render(tables).listings[0].rows if row[0] == MILD.name]
    assert rows == [
        ["mild", "never-taker", "0.45", "0.51", "–"],
        ["mild", "always-taker", "0.45", "–", "0.49"],
        ["mild", "complier", "0.10", "0.10", "0.90"],
    ]


def test_formulas_stand_beside_what_was_simulated(tables: Tables) -> None:
    wrong = tables["expectations"].with_columns(formula=polars.col("formula") + 0.01)
    _, chart = STUDY.render({**tables, "expectations": wrong}).figures
    panel = chart.draw().subfigs[0].axes[0]
    drawn = {float(x) for line in panel.get_lines() for x in np.atleast_1d(np.asarray(line.get_xdata(), float))}
    seen = wrong.filter(population=ALIKE.name, control_share=0.5)
    for column in ("mean", "formula"):
        assert all(any(abs(x - value) < 1e-9 for x in drawn) for value in seen[column])


def test_the_same_results_give_the_same_tables(results: dict[str, SimulationResult], tables: Tables) -> None:
    again = STUDY.tables(results)
    assert all(again[name].equals(table) for name, table in tables.items())


def test_patients_are_credited_as_the_protocol_says(tables: Tables) -> None:
    """How many rewards each arm is credited with: the allocation, who takes what, and both."""
    seen = tables["expectations"].filter(population=UNLIKE.name, control_share=0.9)
    counts = {(row["protocol"], row["arm"]): row["patients"] for row in seen.to_dicts()}
    expected = {
        ("chosen", "control"): 0.9,
        ("chosen", "treatment"): 0.1,
        ("actual", "control"): 0.3 + 0.9 * 0.45,
        ("actual", "treatment"): 0.25 + 0.1 * 0.45,
        ("comply", "control"): 0.9 * 0.75,
        ("comply", "treatment"): 0.1 * 0.7,
    }
    assert counts == {key: pytest.approx(1_000_000 * chance, abs=2500) for key, chance in expected.items()}


def test_comply_sees_the_smaller_gap_wherever_the_proofs_conditions_hold() -> None:
    """What the section says of other numbers, on mixtures drawn at random."""
    rng = np.random.default_rng(3)
    for _ in range(2000):
        p_n, p_a, p_c = rng.dirichlet([1, 1, 1])
        r_a1, r_c0, r_c1, r_n0 = np.sort(rng.random(4))
        expected = Mixture("any", p_n, p_a, p_c, r_n0, r_a1, r_c0, r_c1).expected(0.5)
        gaps = {name: expected[name, 1] - expected[name, 0] for name in ("chosen", "comply")}
        assert gaps["comply"] <= gaps["chosen"] + 1e-12


def test_the_chain_of_the_proof(tables: Tables) -> None:
    assert "hold on unlike and mild" in prose(STUDY.render(tables))
    mixtures = tables["mixtures"].with_columns(r_c0=polars.lit(0.99))
    assert "do not hold" in prose(STUDY.render({**tables, "mixtures": mixtures}))


def test_each_learner_meets_each_protocol_and_population() -> None:
    planned = STUDY.experiments(False).values()
    assert sum(len(one.policies) * len(one.populations) for one in planned) == 3 * 3 * len(FAVOURITES)
    assert {one.reference.split("/")[1] for one in planned if one.reference} == {"actual", "comply"}
    assert CONTROL_SHARES[0] == 0.5
