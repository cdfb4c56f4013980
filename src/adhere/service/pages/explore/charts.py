"""Values of the charts on the page Explore. Each chart is drawn once and then updated with new values."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from adhere.exploration.results import Exploration
from adhere_client.responses.simulations import Pair

Rows: TypeAlias = list[dict[str, Any]]

ARMS: Final = ("control", "treatment")
_LABELLED: Final = 0.17  # the column of a smaller share is too narrow for the type's name
_PROTOCOLS: Final = {"chosen": "Chosen", "actual": "Actual", "comply": "Comply"}


class ExploreChart(NamedTuple):
    """A chart: its drawing, values, description in words, table headings and axis title."""

    drawing: str
    values: Rows
    label: str
    columns: Mapping[str, str]
    title: str = ""


def population(found: Exploration | None) -> ExploreChart:
    """Return a chart with a column per compliance type, as wide as its share.

    Patients told to take the control are above, and patients told to take the treatment below.
    """
    groups = found.settings.groups if found else ()
    values: Rows = []
    left = 0.0
    for group in groups:
        name, right = group.name, left + group.share
        for told, bottom in ((0, 1.15), (1, 0.0)):
            taken = group.takes[told]
            reward = group.rewards[taken]
            row = {"compliance_type": name, "share": round(group.share, 4), "told": ARMS[told], "takes": ARMS[taken]}
            across = {"left": left, "right": right, "middle": left + group.share / 2}
            up = {"bottom": bottom, "level": bottom + reward, "top": bottom + 1}
            shown = name if told == 0 and group.share >= _LABELLED else ""
            values.append(row | {"reward": round(reward, 4)} | across | up | {"name": shown})
        left = right
    shares = ", ".join(f"{group.share:.0%} {group.name}" for group in groups if group.share)
    means = "A column is a compliance type; its colour is the arm taken, its height the reward."
    columns = {"compliance_type": "compliance type", "share": "share", "told": "told", "takes": "takes"}
    label = f"Who the patients are: {shares}. {means}"
    return ExploreChart("explore-population", values, label, columns | {"reward": "mean reward"})


def beliefs(found: Exploration | None) -> ExploreChart:
    """Return a chart with a row for each truth and each protocol, and a dot for each arm."""
    values: Rows = []
    label = "What each protocol believes of both arms, against the truth."
    if found is not None:
        _add(values, "truth: recommending", "truth", found.truth.mean_given_chosen)
        for one in found.beliefs:
            _add(values, _PROTOCOLS[one.protocol], "belief", one.means, one.lowest, one.highest)
        _add(values, "truth: taking", "truth", found.truth.mean_if_taken)
        told = [f"{row['who']}, {row['arm']}: {row['mean']:.3f}" for row in values if row["mean"] is not None]
        label = f"Mean rewards that are true and believed. {'; '.join(told)}."
    columns = {"who": "who", "arm": "arm", "mean": "mean reward", "low": "lowest", "high": "highest"}
    return ExploreChart("explore-beliefs", values, label, columns)


def _add(
    rows: Rows, who: str, kind: str, means: Pair, lowest: Pair = (None, None), highest: Pair = (None, None)
) -> None:
    """Add a row to the chart. Its two dots are slightly apart, so that both are visible if they are equal."""
    row = len({row["who"] for row in rows})
    for arm, mean, low, high, apart in zip(ARMS, means, lowest, highest, (-0.11, 0.11), strict=True):
        low, high = (mean if end is None else end for end in (low, high))
        dot = {"who": who, "kind": kind, "arm": arm, "mean": mean, "low": low, "high": high, "place": row + apart}
        rows.append(dot)


def curves(found: Exploration | None, measure: str, title: str) -> ExploreChart:
    """Return a chart with a line for each policy along the trial, with its Monte Carlo interval."""
    columns = {name: name for name in ("policy", "patients", "mean", "low", "high")}
    values: Rows = []
    ends = []
    for one in found.policies if found else ():
        curve = one.surplus_curve if measure == "surplus" else one.regret_curve
        lows, highs = curve.low or curve.mean, curve.high or curve.mean
        points = [(0, 0.0, 0.0, 0.0), *zip(found.t if found else (), curve.mean, lows, highs, strict=True)]
        values += [dict(zip(columns, (one.title, *point), strict=True)) for point in points]
        ends.append(f"{one.title} {curve.mean[-1]:.1f}")
    label = f"{title.capitalize()} along the trial; at its end: {', '.join(ends)}."
    return ExploreChart("explore-curves", values, label, columns, title)
