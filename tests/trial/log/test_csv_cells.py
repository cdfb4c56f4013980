"""Text in a CSV export is no formula to a spreadsheet, and comes back exactly; Parquet has it as it is."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adhere.csv_cells import escape, unescape
from adhere.design.make_design import make_design
from adhere.populations.records import read_records
from adhere.store import open_store
from adhere.trial.log.table import escaped_table, unescaped_table, write_table
from adhere.trial.log.table_import import import_table
from adhere.trial.log.table_reading import arms_in, read_table

from ..live import Live

ODD = ["=1+1", "+44", "-5 mg", "@SUM(A1)", "'=1+1", "''-x", "'quoted'", "'t Hooft", "=cmd|' /C calc'!A0", '="a",b']
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


@pytest.fixture(scope="module")
def live() -> Live:
    """A trial whose arms, subjects, sites and free texts a spreadsheet could take for formulas."""
    live = Live(arms=("-5 mg", "'=placebo"), repeats=True)
    for n, text in enumerate(ODD):
        live.recommend(text, site="@home" if n % 2 else "'+1")
        live.report(n, site=None, took_other=text, reward=1.0)
    live.recommend("s", site="=site")
    live.report(len(ODD), site=None, actual="-5 mg", reward=0.0)
    return live


def written(live: Live, path: Path) -> Path:
    with live.store.reading() as view:
        write_table(view, 1, live.design, path, path.suffix[1:])
    return path


def test_no_cell_of_a_csv_export_is_a_formula(live: Live, tmp_path: Path) -> None:
    with written(live, tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert [cell for row in rows for cell in row if cell.startswith(FORMULA)] == []
    others = {row[rows[0].index("TRTAOTH")] for row in rows[1:]} - {""}
    assert {"'=1+1", "''=1+1", "'''-x", "'quoted'", "'t Hooft"} < others


def test_parquet_has_the_text_as_it_is(live: Live, tmp_path: Path) -> None:
    table = pl.read_parquet(written(live, tmp_path / "t.parquet"))
    assert table["TRTAOTH"].drop_nulls().to_list() == ODD
    assert set(table["TRTP"]) <= {"-5 mg", "'=placebo"}
    assert {"PROB_-5 mg", "PROB_'=placebo"} < set(table.columns)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_import_undoes_it(live: Live, tmp_path: Path, suffix: str) -> None:
    table = read_table(written(live, tmp_path / f"t.{suffix}"))
    again = Live(store=open_store())
    design = make_design("again", "thompson/actual", arms_in(table), repeats=True)
    import_table(table, again.store, design)
    assert design.arms == live.design.arms
    with live.store.reading() as one, again.store.reading() as two:
        number = two.trials()["again"]
        assert [note[1] for note in two.notes(number).values()] == ODD
        people = [{subject.pseudonym for subject in view.subjects(n)} for view, n in ((one, 1), (two, number))]
        assert people[0] == people[1]


def test_numbers_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("USUBJID,TRTP,AVAL\n-1,walk,-0.5\n")
    assert read_table(tmp_path / "t.csv").row(0) == ("-1", "walk", "-0.5")


def test_arms_are_read_back_as_a_population(tmp_path: Path) -> None:
    live = Live(arms=("=a", "@b"))
    for n in range(30):
        live.recommend(f"s{n}")
        live.report(n, site=None, actual="=a" if n % 2 else "@b", reward=1.0)
    population = read_records(written(live, tmp_path / "t.csv")).population()
    assert set(population.arms) == {"=a", "@b"}


@given(st.text(st.sampled_from("'=+-@\t\r\n a\"")) | st.text())
def test_escaping_is_exact(text: str) -> None:
    assert not escape(text).startswith(FORMULA)
    assert unescape(escape(text)) == text


@given(st.lists(st.text(st.sampled_from("'=+-@ a,\"é"), min_size=1), min_size=1))
def test_a_table_of_any_text_comes_back(texts: list[str]) -> None:
    table = pl.DataFrame({"=h": texts, "n": [-1.5] * len(texts)})
    assert unescaped_table(escaped_table(table)).equals(table)
    assert escaped_table(table)["n"].to_list() == [-1.5] * len(texts)
    assert not any(text.startswith(FORMULA) for text in escaped_table(table)["'=h"])
