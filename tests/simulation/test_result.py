"""What a user does with a result: look an outcome up, print it, put it into a table, draw it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import polars
import pytest

from adhere import InputError, as_population, parse_policy, simulate
from adhere.simulation.results.result_table import EXPLANATION
from blocked import run_without

from .results import POPULATIONS, a_result
from .test_result_table import renamed

GREEDY = "epsilon-greedy(epsilon=0.1)"


@pytest.mark.parametrize(
    "policy",
    [GREEDY, " Epsilon-Greedy( epsilon = 0.10 ) ", "epsilon-greedy(0.1)/chosen", parse_policy(GREEDY), 10],
    ids=str,
)
def test_an_outcome_is_found_by_any_text_of_its_policy(policy: object) -> None:
    result = a_result(20, 2)
    assert result[POPULATIONS[1], policy] is result.outcomes[30]
    assert result[as_population(POPULATIONS[1]), policy] is result.outcomes[30]
    assert result[POPULATIONS[1].title(), policy] is result.outcomes[30]  # `simulate` takes it in any case


def test_an_outcome_is_found_by_its_place() -> None:
    result = a_result(20, 2)
    assert len(result) == 40
    assert list(result) == [result[place] for place in range(40)] == list(result.outcomes)
    assert result[-1] is result.outcomes[-1]
    for key in (40, (POPULATIONS[0], 20)):
        with pytest.raises(IndexError, match=r"^(outcome|policy): got \d0, expected a place from 0 to \d9$"):
            result[key]


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ((POPULATIONS[0], "epsilon-gredy"), r"^policy: .*one of uniform, .* and 10 more \(did you mean 'eps.*'\?\)$"),
        ((POPULATIONS[0], "ucb1"), r"^policy: got 'ucb1', expected one of uniform, .* and 10 more$"),
        (("rich-and-por", "uniform"), r"^population: .*one of .*did you mean 'rich-and-poor'"),
        ("uniform", r"^outcome: got 'uniform', expected a number or a pair: result\[population, policy\]$"),
    ],
)
def test_what_is_not_there_is_said_with_at_most_ten_candidates(key: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        a_result(20, 2)[key]


@pytest.mark.parametrize(("n_policies", "n_populations"), [(1, 1), (3, 2), (20, 2)])
def test_a_result_prints_as_at_most_ten_lines(n_policies: int, n_populations: int) -> None:
    result = a_result(n_policies, n_populations)
    lines = repr(result).splitlines()
    assert len(lines) <= 10
    assert max(map(len, lines)) <= 100
    assert "30 runs of 200 patients, seed 0" in lines[0]
    assert "uniform" in lines[1]
    n_rows = sum("surplus" in line for line in lines[1:])
    assert f"and {len(result) - n_rows} more" in lines[-1] or n_rows == len(result)
    assert repr(result[0]).startswith("Outcome: rich-and-poor, uniform: surplus ")
    assert "\n" not in repr(result[0])


class Cells(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_a_table() -> None:
    result = renamed(a_result(3, 2), population="<b>trial</b> & error")
    shown = Cells(result._repr_html_())
    assert "b" not in shown.tags
    assert shown.tags.count("tr") == 1 + 6 + 2  # and the best arm of each population
    assert "<b>trial</b> & error" in shown.texts
    assert EXPLANATION in " ".join(shown.texts)
    assert "worse than randomisation" in shown.texts
    assert "minus that of uniform on the same patients" in " ".join(shown.texts)


def test_a_pandas_table_is_written_to_parquet_and_read_again(tmp_path: Path) -> None:
    """By pandas itself, with what the extra `pandas` installs."""
    result = simulate(["thompson", "hierarchical(thompson)"], "defiers", 30, 5, progress=False, keep_runs=True)
    tables = {"along": result.to_pandas(), "final": result.to_pandas(final=True), "runs": result.runs.to_pandas()}
    for name, table in tables.items():
        table.to_parquet(tmp_path / f"{name}.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / f"{name}.parquet"), table)
        assert polars.read_parquet(tmp_path / f"{name}.parquet").columns == list(table.columns)


def test_a_pandas_table_is_the_polars_table() -> None:
    result = a_result(3, 2)
    for final in (False, True):
        theirs, ours = result.to_polars(final=final), result.to_pandas(final=final)
        assert list(ours.columns) == theirs.columns
        for column in theirs.columns:
            known = theirs[column].is_not_null()
            assert ours[column][known.to_numpy()].tolist() == theirs[column].filter(known).to_list()
            assert ours[column].isna().sum() == theirs[column].null_count()


def test_the_table_of_final_figures_has_a_row_for_each_outcome() -> None:
    result = a_result(3, 2)
    table = result.to_polars(final=True)
    assert table.height == 6
    row = table.row(5, named=True)
    one = result[5]
    assert (row["surplus"], row["surplus_low"]) == (one.surplus.mean, one.surplus.low)
    assert row["surplus_difference"] == one.difference().mean
    assert row["worse_than_randomisation"] == one.worse_than_randomisation.mean
    assert row["surplus_q05"] == one.quantile(0.05)
    assert row["allocation_low"] == one.allocation["low"].mean
    assert row["allocation_control"] is None


def test_a_plot_without_a_file() -> None:
    figure = a_result(2, 1).plot()
    assert [axis.get_title("left") for axis in figure.subfigs[0].axes] == [POPULATIONS[0]]
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_what_is_missing_is_said_with_the_extra_to_install() -> None:
    said = run_without(
        "pandas",
        "matplotlib",
        code="""
import adhere
result = adhere.simulate("uniform", "rich-and-poor", 200, 30)
for give in (result.to_pandas, result.plot):
    try:
        give()
    except ImportError as error:
        print(error)
""",
    )
    assert said.splitlines() == [
        "to_pandas needs pandas: pip install 'adhere[pandas]' (in a checkout: '.[pandas]')",
        "plot needs matplotlib: pip install 'adhere[report]' (in a checkout: '.[report]')",
    ]


def test_the_table_says_what_its_numbers_are() -> None:
    text = a_result(3, 2).summary()
    assert EXPLANATION in re.sub(r"\s+", " ", text)
    for word in ("surplus", "regret", "worse than randomisation", "Monte Carlo", "not between patients"):
        assert word in EXPLANATION
