"""A table exported from a trial whose lower outcomes are better says so, and every reader of tables honours it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import adhere
from adhere import Trial, as_population
from adhere.cli.main import main
from adhere.design.make_design import make_design
from adhere.errors import InputError
from adhere.evaluation.scenarios.scenarios import read_scenarios
from adhere.populations import describe

ARMS = ("placebo", "drug")


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The log of a trial in which half of placebo and no one of drug dies, and its tables."""
    folder = tmp_path_factory.mktemp("deaths")
    files = {kind: folder / f"deaths.{kind}" for kind in ("log", "csv", "parquet")}
    trial = Trial.from_design(make_design("deaths", "uniform", ARMS, lower_is_better=True), seed=4)
    for number in range(60):
        given = trial.recommend()
        trial.report(given.id, actual=given.arm, reward=float(given.arm == "placebo" and number % 2))
    trial.save(files["log"])
    for kind in ("csv", "parquet"):
        assert main(("trial", "export", str(files["log"]), str(files[kind]))) == 0
    return files


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_analysis_of_the_table_is_that_of_the_log(exports: dict[str, Path], kind: str) -> None:
    logged, read = adhere.analyse(exports["log"], redraws=0), adhere.analyse(exports[kind], redraws=0)
    assert read.lower_is_better
    one, other = logged.effects.comparisons[0], read.effects.comparisons[0]
    assert one.difference.value is not None
    assert one.difference.value > 0.3
    assert other.difference.value == pytest.approx(one.difference.value)
    assert read.digest == logged.digest


def test_it_is_read_the_other_way_only_with_a_warning(exports: dict[str, Path]) -> None:
    usual, against = (adhere.analyse(exports["csv"], redraws=0, lower_is_better=one) for one in (None, False))
    assert (against.lower_is_better, against.digest != usual.digest) == (False, True)
    (said,) = (one for one in against.warnings if "lower outcomes are better" in one)
    assert said not in usual.warnings
    without = pl.read_parquet(exports["parquet"]).drop("LOWERFL")
    assert adhere.analyse(without, redraws=0).digest == against.digest


def test_the_column_is_there_only_where_it_says_something(exports: dict[str, Path], tmp_path: Path) -> None:
    table = pl.read_csv(exports["csv"])
    assert table.columns[:3] == ["STUDYID", "LOWERFL", "SITEID"]
    assert table["LOWERFL"].to_list() == ["Y"] * 60
    trial = Trial("uniform", ARMS, seed=1)
    trial.report(trial.recommend().id, actual="drug", reward=1)
    trial.save(tmp_path / "plain.log")
    assert main(("trial", "export", str(tmp_path / "plain.log"), str(tmp_path / "plain.csv"))) == 0
    assert "LOWERFL" not in pl.read_csv(tmp_path / "plain.csv").columns


def test_a_table_cannot_say_both(exports: dict[str, Path]) -> None:
    table = pl.read_parquet(exports["parquet"])
    half = table.with_columns(LOWERFL=pl.when(pl.int_range(pl.len()) < 20).then(pl.lit("Y")))
    odd = table.with_columns(LOWERFL=pl.lit("perhaps"))
    for given, value in ((half, "Y in 20 of 60 rows"), (odd, "perhaps")):
        for read in (adhere.analyse, as_population):
            with pytest.raises(InputError, match=f"LOWERFL: got '?{value}.*expected Y in every row or in none"):
                read(given)


def test_a_population_has_benefits_for_rewards(exports: dict[str, Path]) -> None:
    with pytest.warns(UserWarning, match="lower outcomes are better: every outcome y is read as 1 − y"):
        population = as_population(exports["csv"])
    assert population.arms == ARMS
    assert population.mean_given_chosen()[1] == 1.0
    table = pl.read_parquet(exports["parquet"])
    plain = as_population(table.drop("LOWERFL"))
    assert plain.mean_given_chosen().tolist() == pytest.approx((1 - population.mean_given_chosen()).tolist())
    with pytest.warns(UserWarning, match="1 − y"):
        turned = as_population(table.drop("LOWERFL"), name="deaths", lower_is_better=True)
    assert turned == population
    assert as_population(table, name="table", lower_is_better=False) == plain
    assert "lower outcomes are better: every outcome y is read as 1 − y" in describe(exports["csv"])
    with pytest.raises(InputError, match="lower_is_better: got 'no', expected True or False"):
        as_population(table, lower_is_better="no")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="lower_is_better: got True, expected a table"):
        as_population("defiers", lower_is_better=True)


def test_a_scenario_has_the_outcomes_of_its_design(exports: dict[str, Path]) -> None:
    lower, higher = (make_design("deaths", "uniform", ARMS, lower_is_better=one) for one in (True, False))
    (scenario,) = read_scenarios(str(exports["csv"]), lower)
    assert scenario.population.mean_given_chosen()[1] == 0.0  # y itself: the design turns it round
    with pytest.warns(UserWarning, match="1 − y"):
        (scenario,) = read_scenarios(str(exports["csv"]), higher)
    assert scenario.population.mean_given_chosen()[1] == 1.0


def test_commands_take_and_honour_it(
    exports: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*words: str) -> str:
        assert main(words) == 0
        return capsys.readouterr().out

    into = str(tmp_path / "into.db")
    plain = tmp_path / "plain.csv"
    pl.read_csv(exports["csv"]).drop("LOWERFL").write_csv(plain)
    made = ("--into", into, "--policy", "uniform", "--name")
    told("trial", "import", str(exports["csv"]), *made, "said")
    told("trial", "import", str(plain), *made, "declared", "--lower-is-better")
    told("trial", "import", str(plain), *made, "plain")
    for name, lower in (("said", True), ("declared", True), ("plain", False)):
        assert ("(lower is better)" in told("trial", "results", into, "--trial", name)) is lower
    said = json.loads(told("populations", str(plain), "--lower-is-better", "--json"))
    assert said["lower_is_better"] is True
    assert said["means"] == json.loads(told("populations", str(exports["csv"]), "--json"))["means"]
    sizes = ("--policy", "uniform", "--patients", "5", "--runs", "2")
    assert "outcome y is read as 1 − y" in " ".join(
        told("simulate", "--population", str(plain), "--lower-is-better", *sizes).split()
    )
    assert main(("simulate", "--population", "defiers", "--lower-is-better", *sizes)) != 0
    assert "--lower-is-better needs a table to go with it" in capsys.readouterr().err
