"""The paper's claims on the stroke data, and sentences on what the counts say."""

from __future__ import annotations

from adhere.populations.describe_records import PROTOCOL_TITLES
from adhere.report.numbers import Interval
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim, verdict_on
from adhere.studies.stroke_data.tables import REFERENCE, Facts

_PAPERS_PATIENTS = 19_422  # section 4 of the paper


def question(facts: Facts) -> str:
    """The question of the study."""
    return (
        "Who are the patients that the stroke simulations draw from, did they take what they were allocated, and "
        "what does each protocol make of aspirin and of heparin?"
    )


def result(facts: Facts) -> str:
    """The result."""
    chosen, actual = (facts.alive("aspirin", view, "aspirin", "difference") for view in ("chosen", "actual"))
    sure = "which chance could explain" if chosen.covers_zero else "which chance hardly explains"
    return (
        f"By intention to treat, aspirin changed survival at 14 days by {_points(chosen)} percentage points, "
        f"{sure}; as treated it looks like {_points(actual)}, because those who did not comply were unlike those "
        "who did."
    )


def details(facts: Facts) -> list[str]:
    """How it was done, and what else was found."""
    return [_who(facts), _aspirin(facts), _why_views_differ(facts), _heparin(facts)]


def _who(facts: Facts) -> str:
    complied = {
        trial: ", ".join(f"{row['share']:.1%} ({row['allocated']})" for row in rows.to_dicts())
        for (trial,), rows in facts.compliance.group_by("trial", maintain_order=True)
    }
    return (
        f"Of {facts.randomised:,} patients randomised, {facts.left_out:,} are left out because their compliance is "
        f"unknown; {facts.analysed:,} remain, each in both trials. The share who took the arm they were "
        f"allocated was {complied['aspirin']} in the aspirin trial; {complied['heparin']} in the heparin trial."
    )


def _aspirin(facts: Facts) -> str:
    treated, untreated = (facts.alive("aspirin", "chosen", arm).value for arm in ("aspirin", REFERENCE))
    chosen, actual, comply = (facts.alive("aspirin", view, "aspirin", "difference") for view in PROTOCOL_TITLES)
    return (
        f"By intention to treat, {treated:.1%} of those allocated aspirin were alive at 14 days, and {untreated:.1%} "
        f"of those allocated none: a difference of {_points(chosen)} percentage points ({_about_zero(chosen)}). As "
        f"treated it is {_points(actual)} ({_about_zero(actual)}), per protocol {_points(comply)} "
        f"({_about_zero(comply)})."
    )


def _why_views_differ(facts: Facts) -> str:
    groups = facts.counts.filter(trial="aspirin", allocated="aspirin")
    alive = {row["taken"]: row["survived"] / row["patients"] for row in groups.to_dicts()}
    return (
        "The views differ because those who did not comply were unlike those who did: of patients allocated aspirin, "
        f"{alive['aspirin']:.1%} of those who took it survived, and {alive[REFERENCE]:.1%} of those who did not. "
        "Only the allocation was randomised, so only intention to treat (treatment policy) estimates an effect; the "
        "other two have no estimand without further assumptions, for they mix the effect with whatever kept patients "
        "from complying, such as a clinical decision or an event that was no stroke."
    )


def _heparin(facts: Facts) -> str:
    doses = facts.heparin_doses()
    best = max(doses, key=lambda arm: doses[arm].value)
    said = " and ".join(f"{_points(one)} percentage points for {arm}" for arm, one in doses.items())
    text = f"For heparin the differences by intention to treat are {said}."
    if doses[best].value >= facts.alive("aspirin", "chosen", "aspirin", "difference").value:
        text += f" The one for {best} is no smaller than aspirin's: the counts do not set the two drugs apart."
    return text


def uncertainty(facts: Facts) -> str:
    """The uncertainty of the result."""
    return (
        "Brackets are 95% intervals, Wilson's for shares and Newcombe's for differences. They cover chance alone and "
        f"make no allowance for the {facts.survival['difference'].count()} differences looked at. What a patient "
        "took is built from allocation and compliance by the paper's rule (who did not comply with a drug took none; "
        "who did not comply with none took aspirin, or low heparin), not measured."
    )


def _points(one: Interval) -> str:
    """A difference in percentage points, without its interval."""
    return f"{round(100 * one.value, 2) + 0.0:+.2f}"  # + 0.0 turns -0.0 into 0.0


def _about_zero(one: Interval) -> str:
    return "interval covers 0" if one.covers_zero else "interval excludes 0"


def make_claims(facts: Facts) -> list[Claim]:
    """How many patients there are, and the effects of aspirin and heparin."""
    aspirin = facts.alive("aspirin", "chosen", "aspirin", "difference")
    doses = facts.heparin_doses()
    lowest, highest = min(one.low for one in doses.values()), max(one.high for one in doses.values())
    return [
        Claim(
            "Stroke data: patients with complete compliance and mortality data at 14 days",
            f"{_PAPERS_PATIENTS:,}",
            f"{facts.analysed:,}",
            AGREES if facts.analysed == _PAPERS_PATIENTS else DIFFERS,
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
            verdict_on([one.covers_zero for one in doses.values()]),
        ),
    ]
