"""The arena as a whole, on a tiny grid: tables, resuming, policies of one's own, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

import adhere
from adhere.errors import InputError
from adhere.studies.arena import arena as module
from adhere.studies.arena.arena import Arena, arena
from adhere.studies.arena.cells import FULL, MAIN_HORIZON, NAMED, QUICK, STROKE, Cell
from adhere.studies.arena.entrants import entrants
from adhere.studies.arena.facts import Facts
from adhere.studies.arena.families import FAMILIES
from adhere.studies.arena.play import play
from adhere.studies.arena.tables import SCHEMAS

TINY = (
    *(
        Cell(name, horizon, 2, 20)
        for name in ("unconfounded", "confounded", "mildly-confounded")
        for horizon in (5, 20)
    ),
    Cell("uniform-other", 5, 2, 20),
    Cell("paper-rich-and-poor", 20, 1, 20),
    *(Cell(name, n_patients, 1, 20) for name in STROKE for n_patients in (30, 40)),
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    out = tmp_path_factory.mktemp("arena")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adhere.studies.arena.page.arena_page", lambda *_: "")  # which takes seconds
        return arena(out, ["thompson/actual", "thompson/comply"], only_own=True, cells=TINY, n_threads=2)


def test_the_tables(played: Arena) -> None:
    for name, schema in SCHEMAS.items():
        assert dict(played.tables[name].schema) == schema
        assert polars.read_parquet(played.out / "data" / f"{name}.parquet").equals(played.tables[name])
        assert (played.out / "data" / f"{name}.csv").is_file()
    results = played.tables["results"]
    assert len(results) == 3 * (len(TINY) + 2)  # the stroke trials are pooled, too
    assert played.tables["families"]["family"].to_list() == list(dict.fromkeys(cell.family for cell in TINY))
    assert set(played.tables["curves"].filter(polars.col("n_patients") == 20)["t"]) == {1, 2, 4, 6, 11, 20}
    assert results.filter(polars.col("policy") == "thompson")["difference"].to_list() == [0.0] * (len(TINY) + 2)
    families = results.filter(polars.col("n_populations") == 20)
    assert families["worst_5_percent"].null_count() == 0
    assert results.filter(polars.col("n_populations") < 20)["worst_5_percent"].null_count() == 3 * 7
    assert (results["share_low"] < results["share"]).all()
    assert (results["ns_per_decision"].drop_nulls() > 0).all()


def test_the_stroke_trials_are_pooled_over_runs(played: Arena) -> None:
    results = played.tables["results"].filter(polars.col("policy") == "thompson/actual")
    pooled, longer = results.filter(polars.col("family") == "stroke").sort("n_patients").to_dicts()
    assert longer["n_patients"] == 40
    apart = results.filter(polars.col("family").is_in(STROKE), polars.col("n_patients") == 30)
    assert pooled["difference"] == pytest.approx(apart["difference"].mean())
    assert pooled["surplus"] == pytest.approx(apart["surplus"].mean())
    assert (pooled["n_arms"], pooled["n_populations"], pooled["regret_treatment"]) == (None, 2, None)


def test_fractions_of_the_optimum_are_known_where_it_is(played: Arena) -> None:
    known = played.tables["results"].filter(polars.col("fraction_of_optimum").is_not_null())
    assert set(known["family"]) == {"uniform-other"}
    assert known["fraction_of_optimum"].to_list() == pytest.approx(
        [surplus / adhere.optimal_surplus(5, "uniform-other") for surplus in known["surplus"]]
    )


def test_more_points_of_the_frontier_play_there_alone() -> None:
    extra = [one for one in entrants() if one.for_frontier]
    assert {one.policy.name for one in extra} == {"mediated-thompson"}
    assert not any(one.for_frontier for one in entrants(only_own=True))
    assert {cell.family for cell in FULL if cell.is_of_frontier} == {
        "unconfounded",
        "confounded",
        "mildly-confounded",
    }


def test_the_frontier(played: Arena) -> None:
    results, frontier = played.tables["results"], played.tables["frontier"]
    assert len(frontier) == 3 * 2 * 2  # policies, horizons, families
    one = frontier.filter(loss_family="confounded", n_patients=20, policy="thompson/actual").to_dicts()[0]
    gains = results.filter(family="unconfounded", n_patients=20, policy="thompson/actual").to_dicts()[0]
    loses = results.filter(family="confounded", n_patients=20, policy="thompson/actual").to_dicts()[0]
    assert (one["gain"], one["gain_low"]) == (gains["difference"], gains["difference_low"])
    assert (one["loss"], one["loss_low"]) == (-loses["difference"], -loses["difference_high"])


def test_what_is_finished_is_not_played_again(played: Arena, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[str] = []

    def counted(policy: object, *arguments: object, **options: object) -> object:
        calls.append(str(policy))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return play(policy, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "play", counted)
    monkeypatch.setattr(module, "write_arena", lambda *_: None)  # seconds each time
    policies, own = ["thompson/actual", "thompson/comply"], {"only_own": True, "cells": TINY[:2], "n_threads": 1}
    with pytest.raises(KeyboardInterrupt):
        arena(tmp_path, policies, **own)  # type: ignore[arg-type]
    again = arena(tmp_path, policies, **own)  # type: ignore[arg-type]
    assert (len(calls), again.n_kept, again.n_plays) == (4 + 3, 3, 6)
    one_more = arena(tmp_path, [*policies, "uniform"], **own)  # type: ignore[arg-type]
    assert calls[7:] == ["uniform", "uniform"]
    assert one_more.own == ("thompson/actual", "thompson/comply", "uniform")
    same = played.tables["results"].filter(family="unconfounded").drop("ns_per_decision")
    assert again.tables["results"].drop("ns_per_decision").equals(same)
    assert arena(tmp_path, policies, seed=1, **own).n_kept == 0  # type: ignore[arg-type]
    for damaged in (tmp_path / "played").iterdir():
        damaged.write_bytes(damaged.read_bytes()[:100])
    assert arena(tmp_path, policies, **own).n_kept == 0  # type: ignore[arg-type]


def test_the_grid_covers_what_the_arena_promises() -> None:
    for grid in (FULL, QUICK):
        at_main = {cell.family for cell in grid if cell.n_patients == MAIN_HORIZON}
        assert {*at_main, *STROKE} == {*FAMILIES, *NAMED} - {"uniform-other"}
        assert 10_000 in {cell.n_patients for cell in grid if cell.family in STROKE}
    assert {cell.n_patients for cell in FULL} == {12, 100, 2000, 10_000, 100_000}
    assert all(cell.truth.n_units >= 200 for cell in FULL)
    assert {FAMILIES[cell.family].n_arms for cell in FULL if cell.family in FAMILIES} == {2, 3, 5}


def test_every_entrant_is_a_policy_once() -> None:
    listed = entrants()
    assert listed[0].text == "thompson"
    assert len({one.label for one in listed}) == len(listed)
    assert [one.is_own for one in entrants("ucb1") if one.text == "ucb1"] == [True]
    with pytest.raises(InputError, match="'ucb1' is listed twice"):
        entrants(["ucb1", "ucb1"])


def test_it_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"family: got 'confoundet'.*did you mean 'confounded'"):
        adhere.arena(tmp_path, families=["confoundet"])
    with pytest.raises(InputError, match="n_threads"):
        adhere.arena(tmp_path, n_threads=0)
    with pytest.raises(InputError, match="device"):
        adhere.arena(tmp_path, device="tpu")
    assert not list(tmp_path.iterdir())
    (tmp_path / "index.html").write_text("my own page")
    with pytest.raises(InputError, match=r"index.html was not written by adhere"):
        adhere.arena(tmp_path)


def test_who_cannot_play_a_cell_is_left_out_of_it(tmp_path: Path) -> None:
    """Whether it says so when it is resolved, when it is assembled, or by failing."""
    own = ["bayes-optimal(horizon=50)", "thompson/credit[0 1; - 1]"]
    cells = [Cell("confounded-3", 20, 2, 20)]
    done = arena(tmp_path, own, only_own=True, cells=cells, n_threads=1)
    assert "on this machine, three arms" in (tmp_path / "index.html").read_text()
    assert done.tables["left_out"]["policy"].to_list() == own
    assert set(done.tables["results"]["policy"]) == {"thompson"}
    times = Facts(done.tables).times()  # of three arms, where none has two
    assert set(times) == {"thompson"}
