"""The study's page, one HTML file made only from its tables: facts, charts and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import polars

from adhere.report.dots import dots
from adhere.report.heat_map import coverage_map
from adhere.report.page import ClaimWords
from adhere.report.section import AGREES, DIFFERS, IN_PART
from adhere.studies.coverage.adaptive_trials import AIPW, DELAY, SEQUENCE
from adhere.studies.coverage.cells import policy_label
from adhere.studies.coverage.judgements import SYMBOLS, Judgement, judge, where, width_text
from adhere.studies.coverage.people import WEAK
from adhere.studies.coverage.tables import ADAPTIVE_DESIGN, FIXED_DESIGN
from adhere.studies.coverage.tally import FAILS, HOLDS, LEAST_COVERAGE, MAX_MISSES, OPEN
from adhere.studies.framework.words import Cells, Charts, StudyPage, Table, Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Coverage: do the intervals hold?"


def n_holding(judgements: list[Judgement]) -> int:
    """Return the number of judgements that hold."""
    return sum(one.verdict == HOLDS for one in judgements)


VERDICTS = {HOLDS: AGREES, OPEN: IN_PART, FAILS: DIFFERS}
_CLAIM_WORDS = ClaimWords("Bars and verdicts", "The bar", {verdict: its for its, verdict in VERDICTS.items()})
_PLACE = ("design", "population", "policy", "n_patients")
_BESIDE = "beside them, promising nothing"
_METHOD = polars.col("method").str.replace(r" \(.*", "")  # without the part in parentheses
_MAIN_VIEWS = ("intention-to-treat", "compliers")
_HEADER = (
    "view",
    "quantity",
    "method",
    "truth",
    "covers",
    "Monte Carlo interval",
    "median width",
    "unbounded",
    "verdict",
)


class Facts:
    """The tables `intervals`, `tests` and `populations`, and the facts read from them."""

    def __init__(self, tables: Tables) -> None:
        self.intervals, self.tests, self.populations = (
            tables[name] for name in ("intervals", "tests", "populations")
        )
        self.judgements = judge(tables)
        self.fixed, self.adaptive = self.of(FIXED_DESIGN), self.of(ADAPTIVE_DESIGN)
        self.sequences = self.adaptive.filter(method=SEQUENCE)
        # Results for compliers with the weak instrument.
        of_weak = polars.col("population").is_in(WEAK), polars.col("coverage").is_not_null()
        self.weak = self.fixed.filter(*of_weak, view="compliers", quantity="difference")

    def of(self, design: str) -> polars.DataFrame:
        """Return the intervals of a design."""
        return self.intervals.filter(design=design)

    def beside(self, design: str) -> polars.DataFrame:
        """Return the reported intervals of the kinds that are not judged in the design."""
        rows, kind = self.of(design), ["view", "quantity", "method"]
        judged = rows.filter(polars.col("judged")).select(kind).unique()
        left = rows.join(judged, kind, "anti", maintain_order="left")
        return left.filter(polars.col("coverage").is_not_null(), quantity="difference")

    def judged(self, design: str, *, tests: bool = False) -> list[Judgement]:
        """Return the judgements on a design's intervals, or on its tests."""
        return [one for one in self.judgements if one.design == design and one.what.startswith("test: ") == tests]

    def beside_by_method(self, design: str) -> list[tuple[str, str, Any]]:
        """Return the unjudged intervals by view and method, with the lowest coverage first."""
        groups = self.beside(design).group_by("view", "method", maintain_order=True)
        return [(str(view), str(method), rows.sort("coverage").to_dicts()) for (view, method), rows in groups]

    def sizes(self) -> list[str]:
        """Return the numbers of patients per arm in fixed designs."""
        return [f"{patients // 2:,}" for patients in self.fixed["n_patients"].unique().sort()]

    def sequence_widths(self) -> list[tuple[str, dict[str, Any], list[str]]]:
        """Return each view with sequences, its row of lowest coverage, and its widths with and without a floor."""
        found = []
        for (view,), rows in self.sequences.group_by("view", maintain_order=True):
            floored = polars.col("policy").str.starts_with("floor")
            texts = []
            for name, its in (("with a floor", floored), ("without", ~floored)):
                widths = rows.filter(its)["median_width"].drop_nulls().to_list()
                texts += [f"{min(widths):.2f} to {max(widths):.2f} {name}"] if widths else []
            found.append((str(view), rows.sort("coverage").row(0, named=True), texts))
        return found

    def test_ranges(self) -> list[tuple[str, str, list[str]]]:
        """Return how often each test rejects over the cells, separately for true and false hypotheses."""
        found = []
        made = self.tests.filter(polars.col("n_trials") > 0)
        for (design, test), rows in made.group_by("design", "test", maintain_order=True):
            texts = []
            for true in (True, False):
                rates = rows.filter(true=true)["rate"].to_list()
                if rates:
                    ends = dict.fromkeys(f"{rate:.1%}" for rate in (min(rates), max(rates)))
                    texts.append(f"{' to '.join(ends)} where its hypothesis is {str(true).lower()}")
            found.append((str(design), str(test), texts))
        return found

    def weak_by_method(self, patients: int) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return the results with the weak instrument in trials of one size, by method."""
        groups = self.weak.filter(n_patients=patients).group_by("method", maintain_order=True)
        return [(str(method), rows.to_dicts()) for (method,), rows in groups]

    def places(self) -> list[tuple[Any, ...]]:
        """Return every cell: the name of its table, its design, and its number of trials."""
        groups = self.intervals.group_by(*_PLACE, maintain_order=True)
        return [(f"cell-{n}", *key, max(rows["n_trials"])) for n, (key, rows) in enumerate(groups)]

    def n_trials(self, design: str) -> int:
        """Return the number of trials of a design that were analysed."""
        return int(self.of(design).group_by(_PLACE).agg(polars.col("n_trials").max())["n_trials"].sum())


def study_page(facts: Facts) -> StudyPage:
    """Return the page. Parts without data in the tables are left out."""
    names = {**globals(), "DELAY": DELAY, "where": where, "width_text": width_text}
    return StudyPage(__package__, facts, charts(facts), cells(facts), names)


def coverage_page(tables: Tables, foot: Mapping[str, str], warning: str = "") -> str:
    """Return the HTML page for the tables. `foot` describes the run."""
    return study_page(Facts(tables)).html(TITLE, foot, warning, _CLAIM_WORDS)


def charts(facts: Facts) -> Charts:
    """Return coverage maps of all intervals by population and policy, and a chart of widths in adaptive trials."""
    found = {
        f"fixed-{patients // 2}": partial(coverage_map, _fixed_rows(facts, patients), LEAST_COVERAGE)
        for patients in facts.fixed["n_patients"].unique(maintain_order=True)
    }
    shown = (
        facts.adaptive.filter(polars.col("view").is_in(_MAIN_VIEWS), quantity="difference")
        .sort("view", descending=True, maintain_order=True)
        .with_columns(label=polars.col("policy").map_elements(policy_label, polars.String))
    )
    row = polars.format("{}: {}", "view", _METHOD)
    rows = shown.select("coverage", group="population", row=row, column="label")
    found["adaptive"] = partial(coverage_map, rows, 1 - MAX_MISSES)
    found["widths"] = partial(_widths, shown.drop_nulls("median_width"))
    return found


def _fixed_rows(facts: Facts, patients: int) -> polars.DataFrame:
    """Return the judged intervals by view and quantity, followed by one group of intervals without a promise."""
    judged = (
        facts.fixed.filter(n_patients=patients, judged=True)
        .group_by(group="view", row="quantity", column="population", maintain_order=True)
        .agg(polars.col("coverage").min())
    )
    row = polars.format("{}: difference ({})", "view", _METHOD)
    beside = facts.beside(FIXED_DESIGN).filter(n_patients=patients)
    others = beside.select(group=polars.lit(_BESIDE), row=row, column="population", coverage="coverage")
    return polars.concat([judged, others])


def _widths(rows: polars.DataFrame) -> Figure:
    none, method = polars.lit(None, polars.Float64), polars.col("method")
    first = method.str.split(", ").list.first()
    kind = polars.when(method.str.contains(AIPW)).then(polars.lit(AIPW)).otherwise(first)
    place: dict[str, Any] = {"group": "population", "row": "label", "panel": "view", "style": kind}
    table = rows.select(**place, mean="median_width", low=none, high=none).unique(list(place), maintain_order=True)
    return dots(table, x_label="median width at the end", zero="")


def cells(facts: Facts) -> Cells:
    """Return the tables by name, except those without rows."""
    populations = [
        [
            one["design"], one["population"], one["words"], _number(one["intention_to_treat"]),
            _number(one["compliers_effect"]), _number(one["average_effect"]), f"{one['share_of_compliers']:.0%}",
        ]
        for one in facts.populations.to_dicts()
    ]  # fmt: skip
    effects = ("intention-to-treat", "among compliers", "average effect", "compliers")
    sequences = [
        [
            one["population"], one["policy"], one["view"],
            _share(None if one["coverage"] is None else 1 - one["coverage"]), _number(one["median_width"]),
            _share(one["empty"]), _mark(one["verdict"]),
        ]
        for one in facts.sequences.to_dicts()
    ]  # fmt: skip
    ends = ("population", "policy", "view", "ever misses", "median width", "empty", "verdict")
    weak = [[one["population"], f"{one['n_patients'] // 2}", *_row(one)[2:]] for one in facts.weak.to_dicts()]
    found: dict[str, Table] = {
        "populations": (("design", "population", "in words", *effects), populations),
        "sequences": (ends, sequences),
        "false-alarms": _tests(facts, True),
        "power": _tests(facts, False),
        "weak": (("population", "an arm", *_HEADER[2:]), weak),
    }
    for n, (_, rows) in enumerate(facts.intervals.group_by(*_PLACE, maintain_order=True)):
        found[f"cell-{n}"] = _HEADER, [_row(one) for one in rows.to_dicts()]
    return {name: (header, rows) for name, (header, rows) in found.items() if rows}


def _tests(facts: Facts, true: bool) -> Table:
    """Return how often tests rejected true (or false) hypotheses."""
    rows = [
        [
            one["design"], one["population"], one["policy"] or f"{one['n_patients'] // 2} an arm", one["test"],
            _share(one["rate"]), _interval(one["rate_low"], one["rate_high"]), _mark(one["verdict"]),
        ]
        for one in facts.tests.filter(polars.col("n_trials") > 0, true=true).to_dicts()
    ]  # fmt: skip
    return ("design", "population", "policy or size", "test", "rejects in", "Monte Carlo interval", "verdict"), rows


def _row(one: dict[str, Any]) -> Sequence[str]:
    covers = _share(one["coverage"]), _interval(one["coverage_low"], one["coverage_high"])
    return [
        one["view"], one["quantity"], one["method"], _number(one["truth"]), *covers, _width(one),
        _share(one["unbounded"]), _mark(one["verdict"]),
    ]  # fmt: skip


def _width(one: dict[str, Any]) -> str:
    return "∞" if one["median_width"] is None and one["coverage"] is not None else _number(one["median_width"])


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"[{low:.1%}, {high:.1%}]"


def _mark(verdict: str) -> str:
    return f"{SYMBOLS[verdict]} {verdict}" if verdict else "not judged"
