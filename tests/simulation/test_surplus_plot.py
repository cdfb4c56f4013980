from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection

from adhere.simulation.results.surplus_plot import plot_file
from report.layout import check_apart_and_inside

from .results import POPULATIONS, a_result

NOTES = ["Data: where they come from, and under what licence, said at such a length that it takes two lines."]


@pytest.mark.parametrize(("n_policies", "n_populations"), [(1, 1), (20, 2)])
def test_nothing_covers_anything_and_nothing_sticks_out(n_policies: int, n_populations: int) -> None:
    check_apart_and_inside(a_result(n_policies, n_populations).plot(NOTES))


def test_what_is_drawn() -> None:
    result = a_result(20, 2)
    panels, below = result.plot(NOTES).subfigs
    assert [panel.get_title("left") for panel in panels.axes] == list(POPULATIONS)
    assert panels.get_supxlabel() == "patients"
    assert "lives" in panels.get_supylabel()
    lines = panels.axes[1].get_lines()
    along = result.outcomes[20].trajectory()
    assert np.array_equal(lines[0].get_xdata(), [0, *along.t])
    assert np.array_equal(lines[0].get_ydata(), [0, *along.mean])
    assert len(lines) == 22
    best = result.outcomes[20].best_arm_surplus_trajectory()
    assert np.array_equal(lines[21].get_ydata(), [0, *best])
    labels = [text.get_text() for text in below.legends[0].get_texts()]
    assert labels == [
        *(one.policy for one in result.outcomes[:20]),
        "uniform randomisation (zero)",
        "always the best arm",
    ]
    note = " ".join(below.texts[0].get_text().split())
    assert note.startswith("Mean of 30 runs, seed 0; bands are 95% Monte Carlo intervals of the mean, not between")


def test_the_quantiles_over_runs_are_drawn_beside_the_mean() -> None:
    result = a_result(2, 1)
    (panel,) = result.plot().subfigs[0].axes
    drawn = [
        path.vertices for one in panel.collections for path in one.get_paths() if isinstance(one, LineCollection)
    ]
    bars = [bar for bar in map(np.asarray, drawn) if bar[0, 0] == bar[1, 0]]
    for outcome in result:
        for low, high in ((0.05, 0.95), (0.25, 0.75)):
            ends = [outcome.quantile(low), outcome.quantile(high)]
            (bar,) = [bar for bar in bars if bar[:, 1].tolist() == ends]
            assert 200 < bar[0, 0] < panel.get_xlim()[1]
            assert panel.get_ylim()[0] < ends[0] <= ends[1] < panel.get_ylim()[1]
    assert all(tick <= 200 for tick in panel.get_xticks())


def test_panels_have_their_own_scale() -> None:
    first, second = a_result(2, 2).plot().subfigs[0].axes
    assert first.get_ylim() != second.get_ylim()


def test_a_single_run_has_no_band() -> None:
    for n_runs, n_bands in ((1, 0), (30, 2)):
        (panel,) = a_result(2, 1, n_runs).plot().subfigs[0].axes
        bands = [one for one in panel.collections if isinstance(one, PolyCollection)]
        assert len([path for one in bands for path in one.get_paths() if path.get_extents().width]) == n_bands


def test_two_populations_of_one_name_stay_apart() -> None:
    result = a_result(2, 2)
    outcomes = tuple(dataclasses.replace(one, population="trial") for one in result.outcomes)
    panels, _ = dataclasses.replace(result, outcomes=outcomes).plot().subfigs
    assert [panel.get_title("left") for panel in panels.axes] == ["trial", "trial (2)"]


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".SVG", b"<?xml"), (".pdf", b"%PDF")])
def test_the_same_result_is_the_same_file(suffix: str, start: bytes) -> None:
    first = plot_file(a_result(2, 1).plot(), suffix)
    assert first.startswith(start)
    assert plot_file(a_result(2, 1).plot(), suffix) == first
