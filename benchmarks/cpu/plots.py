"""One figure: who makes how many decisions a second, and what a decision costs as work grows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cpu.c_programs import LANES, LIKE_FOR_LIKE, LIMIT
from benchmarks.cpu.findings import Findings
from benchmarks.cpu.growth import EXPERTS_POLICY, FEW_PATIENTS, RUNS, Growth
from benchmarks.cpu.lockstep import LOCKSTEP
from benchmarks.cpu.measuring import Spread
from benchmarks.cpu.ours import ADHERE, GREEDY, HIERARCHICAL, THOMPSON

from adhere.report.style import SETTINGS, figure_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers tell apart; shapes say the same again.
_BLUE, _BLACK, _GREEN, _ORANGE, _GREY = "#0072B2", "#000000", "#009E73", "#D55E00", "#999999"
_LOOKS = {
    ADHERE: (_BLUE, "o"),
    LIKE_FOR_LIKE: (_BLACK, "s"),
    LIMIT: (_BLACK, "s"),
    LANES: (_BLACK, "s"),
    LOCKSTEP: (_GREEN, "D"),
}
_LIBRARY = (_ORANGE, "^")
_LINES = {
    THOMPSON: (_BLUE, "o", "-"),
    GREEDY: (_ORANGE, "^", "--"),
    HIERARCHICAL: (_GREEN, "D", ":"),
    EXPERTS_POLICY: (_BLACK, "s", "-."),
}
_SIZE = (9.0, 7.4)


def draw(findings: Findings, folder: Path) -> list[Path]:
    """Write the figure as PNG and SVG."""
    import matplotlib

    files = [folder / "cpu.png", folder / "cpu.svg"]
    with matplotlib.rc_context(SETTINGS):
        figure = _figure(findings)
        for file in files:
            file.write_bytes(figure_file(figure, file.suffix))
    return files


def _figure(findings: Findings) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[4.6, 3.0])[:, 0]
    left, right = above.subplots(1, 2)
    _side_by_side(left, findings)
    _our_policies(right, findings)
    cells = below.subplots(1, len(findings.growth))
    for cell, growth in zip(cells, findings.growth, strict=True):
        _growth(cell, growth)
    cells[0].set_ylabel("nanoseconds a decision, one core")
    shown = {line.get_label(): line for cell in cells for line in cell.get_lines()}
    below.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=len(shown), frameon=False)
    return figure


def _rates(spread: Spread) -> tuple[float, float, float]:
    """Million decisions a second: the median, the slowest and the fastest round."""
    return 1e3 / spread.median, 1e3 / spread.hi, 1e3 / spread.lo


def _point(cell: Axes, row: float, spread: Spread, colour: str, shape: str, filled: bool) -> None:
    rate, low, high = _rates(spread)
    cell.plot([low, high], [row, row], color=colour, linewidth=1.2, alpha=0.6, solid_capstyle="butt")
    cell.plot(rate, row, shape, color=colour, markerfacecolor=colour if filled else "white", markersize=5.5)


def _rows(cell: Axes, labels: list[str], title: str, ticks: tuple[float, ...]) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    cell.set_yticks(range(len(labels)), labels)
    cell.set_ylim(len(labels) - 0.5, -0.5)
    cell.set_xscale("log")
    cell.xaxis.set_major_locator(LogLocator(subs=ticks))
    cell.xaxis.set_minor_locator(NullLocator())
    cell.xaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    cell.set_xlabel("million decisions a second, one core")
    cell.set_title(title, loc="left", fontweight="bold")
    cell.grid(axis="x", color="#dddddd", linewidth=0.6)
    cell.set_axisbelow(True)
    cell.tick_params(axis="y", length=0)


def _side_by_side(cell: Axes, findings: Findings) -> None:
    from matplotlib.lines import Line2D

    speed = findings.speed
    makers = [maker for maker, policy in speed.ns if policy == THOMPSON and (maker, GREEDY) in speed.ns]
    makers.sort(key=lambda maker: speed.cost((maker, THOMPSON)).median)
    for row, maker in enumerate(makers):
        colour, shape = _LOOKS.get(maker, _LIBRARY)
        for policy, shift in ((THOMPSON, -0.17), (GREEDY, 0.17)):
            _point(cell, row + shift, speed.cost((maker, policy)), colour, shape, policy == THOMPSON)
    _rows(cell, makers, "Two arms: adhere, C and other libraries", (1.0,))
    cell.get_yticklabels()[makers.index(ADHERE)].set_fontweight("bold")
    keys = [
        Line2D([], [], color=_GREY, marker="o", linestyle="", label="Thompson sampling"),
        Line2D([], [], color=_GREY, marker="o", markerfacecolor="white", linestyle="", label="ε-greedy"),
        Line2D([], [], color=_GREY, linewidth=1.2, label="slowest to fastest round"),
    ]
    cell.legend(handles=keys, loc="lower right", frameon=True, framealpha=1.0, edgecolor="#dddddd")


def _our_policies(cell: Axes, findings: Findings) -> None:
    speed = findings.speed
    policies = [policy for maker, policy in speed.ns if maker == ADHERE]
    policies.sort(key=lambda policy: speed.cost((ADHERE, policy)).median)
    for row, policy in enumerate(policies):
        _point(cell, row, speed.cost((ADHERE, policy)), *_LOOKS[ADHERE], True)
    _rows(cell, [_broken(policy) for policy in policies], "Every policy of adhere", (1.0, 2.0, 5.0))


def _broken(policy: str) -> str:
    """A long text on two lines."""
    return policy.replace("thompson-bounded(", "thompson-bounded(\n") if len(policy) > 40 else policy


def _growth(cell: Axes, growth: Growth) -> None:
    for policy in growth.policies:
        colour, shape, line = _LINES[policy]
        costs = [growth.rounds.cost((str(size), policy)) for size in growth.sizes]
        lows, highs = [cost.lo for cost in costs], [cost.hi for cost in costs]
        cell.fill_between(growth.sizes, lows, highs, color=colour, alpha=0.12, linewidth=0)
        medians = [cost.median for cost in costs]
        cell.plot(growth.sizes, medians, line, color=colour, marker=shape, markersize=4, label=policy)
    cell.set_xscale("log")
    cell.set_xticks(growth.sizes, [_short(size) for size in growth.sizes])
    cell.minorticks_off()
    cell.set_ylim(bottom=0)
    cell.set_xlabel(f"{growth.size} of {FEW_PATIENTS} patients" if growth.size == RUNS else growth.size)
    cell.set_title(f"More {growth.size}", loc="left", fontweight="bold")
    cell.grid(axis="y", color="#dddddd", linewidth=0.6)


def _short(size: int) -> str:
    superscripts = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "10" + str(len(str(size)) - 1).translate(superscripts) if size >= 1000 else str(size)
