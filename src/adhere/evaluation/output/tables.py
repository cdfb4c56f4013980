"""Tables of an evaluation and of its scenarios, with a row per scenario, or per design in a scenario."""

from collections.abc import Callable, Iterable, Sequence

from adhere.analysis.formatting import signed
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.evaluation_data import EvaluationData
from adhere.evaluation.outcomes import METHODS, VIEWS
from adhere.evaluation.output.figures import look_labels
from adhere.evaluation.output.rows import (
    ERRORS,
    MAX_OPEN,
    UNKNOWN,
    column,
    conclusion_columns,
    is_known,
    listing,
    short_percent,
)
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.intervals import Estimate
from adhere.populations import ComplianceTypes
from adhere.report.section import Listing

MAX_ARMS = 6  # up to this number, each arm has a column
_MAX_LOOKS = 8  # columns of a table that is not folded
_QUANTILES = (5, 25, 50, 75, 95)  # %


def _percent(rows: Sequence[Characteristics], name: str, arm: str | None = None) -> list[str]:
    return column([row.number(name, arm) for row in rows], percent=True)


def _plain(rows: Sequence[Characteristics], name: str, arm: str | None = None) -> list[str]:
    return column([row.number(name, arm) for row in rows])


def errors_table(evaluation: EvaluationData) -> Listing:
    """Type I error under the null hypotheses: for a claim about any arm, and for each arm if several are compared."""
    rows = [row for row in evaluation.results if is_known(row.number("type_one"))]
    columns: dict[str, list[str]] = {
        "null": [str(row.scenario.null or "in part") for row in rows],
        "type I error": _percent(rows, "type_one"),
        **_by_arm(rows, "type_one"),
        "95% interval": [_interval(row.number("type_one")) for row in rows],
    }
    return listing(evaluation, rows, f"Type I error: the probability of any false claim ({ERRORS})", columns)


def power_table(evaluation: EvaluationData) -> Listing:
    """Power in scenarios with an effect: for any right claim and for each arm, with claims in the wrong direction."""
    rows = [row for row in evaluation.results if is_known(row.number("power"))]
    columns = {
        "power": _percent(rows, "power"),
        **_by_arm(rows, "power"),
        "95% interval": [_interval(row.number("power")) for row in rows],
        "wrong direction": _percent(rows, "wrong_claim"),
        "selects the best": _percent(rows, "select_best"),
    }
    caption = f"Power: the probability of a claim in the right direction ({ERRORS})"
    return listing(evaluation, rows, caption, columns)


def _by_arm(rows: Sequence[Characteristics], name: str) -> dict[str, list[str]]:
    """Return a column for each compared arm, if there are at least two and not too many."""
    arms = list(dict.fromkeys(arm for row in rows for arm in _compared(row)))
    if not 2 < len(arms) + 1 <= MAX_ARMS + 1:
        return {}
    return {
        arm: column([row.number(name, arm) if arm in _compared(row) else None for row in rows], percent=True)
        for arm in arms
    }


def _compared(row: Characteristics) -> Sequence[str]:
    """Return the arms about which a trial can make claims."""
    return row.others if row.design.control else row.design.arms


def _interval(one: Estimate | None) -> str:
    if one is None or one.low is None or one.high is None:
        return UNKNOWN
    return f"[{100 * one.low:.1f}, {100 * one.high:.1f}]"


def conclusions_table(evaluation: EvaluationData) -> Listing:
    """Conclusions of trials, without statuses that never occur."""
    rows = evaluation.results
    caption = f"What trials end with: share of trials ({ERRORS})"
    return listing(evaluation, rows, caption, conclusion_columns(rows))


def size_table(evaluation: EvaluationData) -> Listing:
    """Numbers of patients (mean, standard deviation, quantiles), days and looks."""
    rows = evaluation.results
    columns = {
        "patients": _plain(rows, "sample_size"),
        "SD": _plain(rows, "sample_size_sd"),
        **{f"{q}%": _whole(rows, f"sample_size_q{q:02}") for q in _QUANTILES},
        "days": _plain(rows, "duration"),
        "SD of days": _plain(rows, "duration_sd"),
        "looks": _plain(rows, "n_looks"),
    }
    caption = f"Sample size, with its quantiles over trials, and duration ({ERRORS})"
    return listing(evaluation, rows, caption, columns)


def _whole(rows: Sequence[Characteristics], name: str) -> list[str]:
    return [UNKNOWN if (one := row.number(name)) is None else f"{one.mean:,.0f}" for row in rows]


def allocation_table(evaluation: EvaluationData) -> Listing:
    """Shares and numbers of patients by arm recommended and arm taken."""
    rows = evaluation.results
    arms = rows[0].design.arms
    columns: dict[str, list[str]] = {}
    shown = arms[1:] if len(arms) == 2 else arms  # with two arms, the other one is the rest
    if len(arms) <= MAX_ARMS:
        for name, said in (("allocation", "recommended"), ("taken", "took")):
            for arm in shown:
                columns[f"{said} {arm}"] = column([row.number(name, arm) for row in rows], percent=True)
        for arm in arms:
            columns[f"patients, {arm}"] = column([row.number("n_recommended", arm) for row in rows], errors=False)
    columns["recommended a worse arm"] = _percent(rows, "recommended_inferior")
    columns["took a worse arm"] = _percent(rows, "took_inferior")
    return listing(evaluation, rows, f"Allocation: mean share and number of a trial's patients ({ERRORS})", columns)


def benefit_table(evaluation: EvaluationData) -> Listing:
    """Benefit of patients in the trial and after it."""
    rows = evaluation.results
    columns = {
        "mean of 1 − y" if rows[0].design.lower_is_better else "mean outcome": _plain(rows, "outcome"),
        "surplus over 1:1": _plain(rows, "surplus"),
        "worse than 1:1": _percent(rows, "worse_than_randomisation"),
        "ideal, recommending": _plain(rows, "ideal_recommending"),
        "ideal, treating": _plain(rows, "ideal_treating"),
    }
    caption = f"Benefit: in the trial, and of the arm it leaves behind, in % of the ideal ({ERRORS})"
    return listing(evaluation, rows, caption, columns)


def estimates_table(evaluation: EvaluationData) -> Listing:
    """Bias, root mean squared error and coverage of every estimand by every method."""
    lines: list[tuple[Characteristics, str, str, str]] = [
        (row, arm, estimand, method)
        for row in evaluation.results
        for estimand in VIEWS
        if estimand in row.design.estimands
        for arm in row.others
        for method in METHODS
        if is_known(row.number("bias", arm, estimand, method))
    ]
    if not lines:
        return Listing("", [], [])

    def of(name: str, percent: bool = False) -> list[str]:
        return column(
            [row.number(name, arm, estimand, method) for row, arm, estimand, method in lines], percent=percent
        )

    several_arms = len({arm for _, arm, _, _ in lines}) > 1
    columns = {
        **({"arm": [arm for _, arm, _, _ in lines]} if several_arms else {}),
        "effect": [estimand for _, _, estimand, _ in lines],
        "true": [signed(_true_effect(row, arm, estimand)) for row, arm, estimand, _ in lines],
        "method": [method for _, _, _, method in lines],
        "bias": of("bias"),
        "RMSE": of("rmse"),
        "coverage": of("coverage", percent=True),
        "excludes 0 under a null": of("interval_error", percent=True),
    }
    caption = f"Estimates of effects: bias, root mean squared error, coverage of 95% intervals ({ERRORS})"
    if evaluation.designs[0].lower_is_better:
        caption = caption.replace("Estimates of effects:", "Estimates of effects on 1 − y:")
    return listing(evaluation, [line[0] for line in lines], caption, columns)


def _true_effect(row: Characteristics, arm: str, estimand: str) -> float:
    return float(row.truth.effects[row.design.arms.index(arm), VIEWS.index(estimand)])


def stops_table(evaluation: EvaluationData) -> Listing:
    """Share of trials of a single design that have stopped by each look."""
    rows = evaluation.results
    labels = look_labels(rows[0])
    if len(evaluation.designs) > 1 or rows[0].design.stopping is None or len(labels) < 2:
        return Listing("", [], [])
    running = [row.by_look()["running"] for row in rows]
    columns = {
        label: [f"{100 * (1.0 - float(along.mean[look])):.1f}%" for along in running]
        for look, label in enumerate(labels)
    }
    table = listing(evaluation, rows, "Share of trials that have stopped with a conclusion by each look", columns)
    return Listing(table.caption, table.header, table.rows, table.folded or len(labels) > _MAX_LOOKS)


def scenarios_table(evaluation: EvaluationData) -> Listing:
    """Truth in each scenario."""
    rows = evaluation.results[:: len(evaluation.designs)]
    scenarios = evaluation.scenarios
    arms, lower = rows[0].design.arms, rows[0].design.lower_is_better
    columns = {
        "null": [one.null or UNKNOWN for one in scenarios],
        "baseline": _given((one.baseline for one in scenarios), "{:g}".format),
        "effect": [_effect(one) for one in scenarios],
        "compliance": _given((one.compliance for one in scenarios), short_percent),
        "confounding": _given((one.confounding for one in scenarios), "{:g}".format),
        "average null": _given((one.average_null for one in scenarios), "±{:g}".format),
    }
    if len(arms) <= MAX_ARMS:
        for number, arm in enumerate(arms):
            means = [row.truth.means[number] for row in rows]
            columns[f"if recommended {arm}"] = [f"{1.0 - mean if lower else mean:.3f}" for mean in means]
    columns["best to recommend"] = [_best(row) for row in rows]
    said = {heading: cells for heading, cells in columns.items() if any(cell != UNKNOWN for cell in cells)}
    lines = [list(cells) for cells in zip([one.name for one in scenarios], *said.values(), strict=True)]
    caption = f"Scenarios, and the mean outcome{' y' * lower} of those who are recommended each arm"
    return Listing(caption, ["scenario", *said], lines, folded=len(lines) > MAX_OPEN)


def people_table(evaluation: EvaluationData) -> Listing:
    """People in the scenarios that do not belong to a grid."""
    arms, lower = evaluation.designs[0].arms, evaluation.designs[0].lower_is_better
    lines = [
        [
            scenario.name,
            one.name,
            short_percent(one.probability),
            *(f"{arms[taken]}, {one.reward_when_chosen(arm):.4g}" for arm, taken in enumerate(one.takes)),
        ]
        for scenario in evaluation.scenarios
        if scenario.compliance is None and isinstance(scenario.population, ComplianceTypes)
        for one in scenario.population.types
    ]
    header = ["scenario", "people", "share", *(f"if recommended {arm}" for arm in arms)]
    caption = f"Who is in the scenarios that are none of a grid: what they take, and their mean outcome{' y' * lower}"
    return Listing(caption, header, lines, folded=len(lines) > MAX_OPEN)


def _given(numbers: Iterable[float | None], write: Callable[[float], str]) -> list[str]:
    return [UNKNOWN if number is None else write(number) for number in numbers]


def _effect(scenario: Scenario) -> str:
    """Return the effect of the treatment, or of each arm, as the names of a grid's scenarios state it."""
    if scenario.effect is not None or scenario.compliance is None:
        return UNKNOWN if scenario.effect is None else f"{scenario.effect:g}"
    return scenario.name.partition(", compliance ")[0].removeprefix("effect ")


def _best(row: Characteristics) -> str:
    best = [arm for arm, is_best in zip(row.design.arms, row.truth.is_best, strict=True) if is_best]
    return "all alike" if len(best) == len(row.design.arms) else ", ".join(best)
