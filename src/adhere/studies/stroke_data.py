"""The stroke data itself: who was allocated what, who took what, and who was alive after 14 days.

There is nothing to simulate: every figure is counted from the table that ships with the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adhere.populations.describe import PROTOCOL_TITLES
from adhere.populations.stroke import ARMS, SOURCE, shipped_counts
from adhere.report.flow_diagram import flow_diagram
from adhere.report.proportions import Interval, compliance_by_arm, interval_in, survival_by_view, survival_chart
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim, Drawing, Listing, Section
from adhere.simulation import SimulationResult
from adhere.studies.study import Experiment, Study

if TYPE_CHECKING:
    import polars

    from adhere.studies.study import Tables

# Of the published file (Sandercock, Niewada, Członkowska 2011, doi 10.7488/ds/104): its patients, and those of them
# whose compliance (CMPLASP, CMPLHEP) is blank, whom the shipped counts leave out.
RANDOMISED, COMPLIANCE_UNKNOWN = 19_435, 13

_PAPERS_PATIENTS = 19_422  # section 4 of the paper
_REFERENCE = "none"


def experiments(quick: bool) -> Mapping[str, Experiment]:
    """Nothing to simulate, quick or not."""
    return {}


def tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The shipped counts, and made of them compliance, survival under each view and the flow of patients."""
    import polars

    counts = polars.DataFrame([row._asdict() for row in shipped_counts()])
    counts = counts.with_columns(patients=polars.col("survived") + polars.col("died"))
    return {
        "counts": counts,
        "compliance": compliance_by_arm(counts),
        "survival": survival_by_view(counts, _REFERENCE),
        "flow": _flow(counts),
    }


def _flow(counts: polars.DataFrame) -> polars.DataFrame:
    """Each box of the flow diagram, and how many patients are in it."""
    import polars

    analysed = counts.filter(trial="aspirin")["patients"].sum()  # every patient is in both trials
    rows: list[dict[str, object]] = [
        {"step": "randomised", "patients": RANDOMISED},
        {"step": "left out", "patients": COMPLIANCE_UNKNOWN},
        {"step": "analysed", "patients": analysed},
    ]
    for (trial, allocated), told in counts.group_by("trial", "allocated", maintain_order=True):
        place = {"trial": trial, "allocated": allocated}
        rows.append({"step": "allocated", **place, "patients": told["patients"].sum()})
        rows += [{"step": "taken", **place, **taken} for taken in told["taken", "patients"].to_dicts()]
    order = ("step", "trial", "allocated", "taken", "patients")
    return polars.DataFrame(rows, infer_schema_length=None).select(order)


class _Told:
    """The tables with the few figures that more than one sentence needs."""

    def __init__(self, tables: Tables) -> None:
        self.counts, self.compliance = tables["counts"], tables["compliance"]
        self.survival, self.flow = tables["survival"], tables["flow"]
        self.randomised, self.left_out, self.analysed = self.flow["patients"].to_list()[:3]

    def alive(self, trial: str, view: str, arm: str) -> Interval:
        return interval_in(self._row(trial, view, arm), "share")

    def difference(self, trial: str, view: str, arm: str) -> Interval:
        return interval_in(self._row(trial, view, arm), "difference")

    def heparin_doses(self) -> dict[str, Interval]:
        return {arm: self.difference("heparin", "chosen", arm) for arm in ARMS["heparin"] if arm != _REFERENCE}

    def _row(self, trial: str, view: str, arm: str) -> dict[str, Any]:
        return self.survival.filter(trial=trial, view=view, arm=arm).to_dicts()[0]


def tell(tables: Tables) -> Section:
    """What the counts say before any bandit sees them."""
    told = _Told(tables)
    return Section(
        name=STUDY.name,
        title=STUDY.title,
        asked=(
            "Who are the patients that the stroke simulations draw from, did they take what they were allocated, and "
            "what does each protocol's view of the trial make of aspirin and of heparin?"
        ),
        found=" ".join([_who(told), _aspirin(told), _why_views_part(told), _heparin(told)]),
        how_sure=_how_sure(told),
        claims=_claims(told),
        drawings=_drawings(told),
        listings=_listings(told),
        credits=SOURCE,
    )


def _who(told: _Told) -> str:
    complied = {
        trial: ", ".join(f"{row['share']:.1%} ({row['allocated']})" for row in rows.to_dicts())
        for (trial,), rows in told.compliance.group_by("trial", maintain_order=True)
    }
    return (
        f"Of {told.randomised:,} patients randomised, {told.left_out:,} are left out because their compliance is "
        f"unknown; {told.analysed:,} remain, each in both trials. The share who took the arm they were "
        f"allocated was {complied['aspirin']} in the aspirin trial; {complied['heparin']} in the heparin trial."
    )


def _aspirin(told: _Told) -> str:
    treated, untreated = (told.alive("aspirin", "chosen", arm).value for arm in ("aspirin", _REFERENCE))
    chosen, actual, comply = (told.difference("aspirin", view, "aspirin") for view in PROTOCOL_TITLES)
    return (
        f"By intention to treat, {treated:.1%} of those allocated aspirin were alive at 14 days, and {untreated:.1%} "
        f"of those allocated none: a difference of {chosen.points()} percentage points ({_about_zero(chosen)}). As "
        f"treated it is {actual.points()} ({_about_zero(actual)}), per protocol {comply.points()} "
        f"({_about_zero(comply)})."
    )


def _why_views_part(told: _Told) -> str:
    groups = told.counts.filter(trial="aspirin", allocated="aspirin")
    alive = {row["taken"]: row["survived"] / row["patients"] for row in groups.to_dicts()}
    return (
        "The views part because those who did not comply were unlike those who did: of patients allocated aspirin, "
        f"{alive['aspirin']:.1%} of those who took it survived, and {alive[_REFERENCE]:.1%} of those who did not. "
        "Only the allocation was randomised, so only the first difference estimates an effect; the other two mix it "
        "with whatever kept patients from complying, such as a clinical decision or an event that was no stroke."
    )


def _heparin(told: _Told) -> str:
    doses = told.heparin_doses()
    best = max(doses, key=lambda arm: doses[arm].value)
    said = " and ".join(f"{one.points()} percentage points for {arm}" for arm, one in doses.items())
    text = f"For heparin the differences by intention to treat are {said}."
    if doses[best].value >= told.difference("aspirin", "chosen", "aspirin").value:
        text += f" The one for {best} is no smaller than aspirin's: the counts do not set the two drugs apart."
    return text


def _how_sure(told: _Told) -> str:
    return (
        "Brackets are 95% intervals, Wilson's for shares and Newcombe's for differences. They cover chance alone and "
        f"make no allowance for the {told.survival['difference'].count()} differences looked at. What a patient took "
        "is built from allocation and compliance by the paper's rule (who did not comply with a drug took none; who "
        "did not comply with none took aspirin, or low heparin), not measured."
    )


def _about_zero(one: Interval) -> str:
    return "interval covers 0" if one.covers_zero else "interval excludes 0"


def _claims(told: _Told) -> list[Claim]:
    aspirin = told.difference("aspirin", "chosen", "aspirin")
    doses = told.heparin_doses()
    lowest, highest = min(one.lo for one in doses.values()), max(one.hi for one in doses.values())
    n_covering = sum(one.covers_zero for one in doses.values())
    return [
        Claim(
            "Stroke data: patients with complete compliance and mortality data at 14 days",
            f"{_PAPERS_PATIENTS:,}",
            f"{told.analysed:,}",
            AGREES if told.analysed == _PAPERS_PATIENTS else DIFFERS,
        ),
        Claim(
            "Stroke data: aspirin has a small but beneficial effect",
            "“the small but beneficial effect found for aspirin”",
            f"{aspirin.points()} percentage points of survival, intention-to-treat ({_about_zero(aspirin)})",
            DIFFERS if aspirin.value <= 0 else IN_PART if aspirin.covers_zero else AGREES,
        ),
        Claim(
            "Stroke data: with heparin, no difference in 14-day survival is told from zero",
            "“the lack of benefits or severe ill effects found in the original study for heparin”",
            f"{'; '.join(f'{arm} {one.points()}' for arm, one in doses.items())}; intervals allow "
            f"{100 * lowest:+.2f} to {100 * highest:+.2f} percentage points, and say nothing of other harms",
            AGREES if n_covering == len(doses) else IN_PART if n_covering else DIFFERS,
        ),
    ]


def _drawings(told: _Told) -> list[Drawing]:
    return [
        Drawing(
            "stroke-flow",
            "The patients of the International Stroke Trial, from randomisation to the arm taken; shares are of "
            "those allocated to the arm.",
            f"Flow diagram: {told.randomised:,} patients randomised, {told.left_out:,} left out, {told.analysed:,} "
            "analysed; for each trial how many were allocated to each arm, and how many of them took which arm.",
            lambda: flow_diagram(told.flow),
        ),
        Drawing(
            "stroke-survival",
            "Survival at 14 days under the three views, and its difference from none, with 95% intervals. Only "
            "intention-to-treat compares groups that were made by chance.",
            "Dots with intervals: the share alive at 14 days by trial, view and arm; its difference from none.",
            lambda: survival_chart(told.survival, PROTOCOL_TITLES),
        ),
    ]


def _listings(told: _Told) -> list[Listing]:
    counts: list[list[str]] = []
    for (trial,), rows in told.counts.group_by("trial", maintain_order=True):
        totals = (str(trial), "all", "all", *rows["survived", "died", "patients"].sum().row(0))
        counts += [[*row[:3], *(f"{number:,}" for number in row[3:])] for row in (*rows.rows(), totals)]
    compliance = [
        [row["trial"], row["allocated"], f"{row['patients']:,}", f"{row['complied']:,}", _percent(row)]
        for row in told.compliance.to_dicts()
    ]
    header = ("trial", "allocated", "patients", "complied", "share")
    survival = []
    for row in told.survival.to_dicts():
        difference = "reference" if row["arm"] == _REFERENCE else interval_in(row, "difference").points()
        numbers = [f"{row['patients']:,}", f"{row['survived']:,}", _percent(row), difference]
        survival.append([row["trial"], PROTOCOL_TITLES[row["view"]], row["arm"], *numbers])
    return [
        Listing(
            "Patients by trial, arm allocated, arm taken and whether alive at 14 days.",
            ("trial", "allocated", "taken", "survived", "died", "patients"),
            counts,
        ),
        Listing("Compliance by arm, with 95% intervals.", header, compliance),
        Listing(
            "Survival at 14 days by view, and its difference from none in percentage points, with 95% intervals.",
            ("trial", "view", "arm", "patients", "survived", "share", "difference"),
            survival,
        ),
    ]


def _percent(row: Mapping[str, Any]) -> str:
    return interval_in(row, "share").percent()


STUDY = Study("stroke-data", "The stroke data itself", experiments, tables, tell)
