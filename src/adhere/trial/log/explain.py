"""Explain events in plain words: how a recommendation was derived, and what was reported about it since."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from adhere.design.arms import describe_taken
from adhere.design.design import Design
from adhere.design.planned_looks import burn_in_of
from adhere.errors import InputError
from adhere.looks.judge import ACTIVE, GO_ON
from adhere.policies import as_policy
from adhere.policies.base.policy import AnyLearner
from adhere.store import ReadTransaction
from adhere.trial.domain import events
from adhere.trial.domain.events import AnyEvent, Created, Recommended, created_event
from adhere.trial.domain.log_records import made_and_all
from adhere.trial.log.look_view import decision_of, look_events
from adhere.trial.policy.engine import engine_of

_SAID = {
    events.Withdrawn: "lost to follow-up ({event.reason})",
    events.EnteredInError: "entered in error ({event.reason})",
    events.Unblinded: "unblinded ({event.reason})",
    events.Paused: "paused: no new recommendations ({event.reason})",
    events.Resumed: "resumed: recommendations go on ({event.reason})",
    events.Closed: "closed for good ({event.reason})",
    events.Revealed: "secret revealed: anybody can draw the arms again ({event.reason})",
    events.UpdateRefused: (
        "the policy refused the update of record {event.place}, which it skips from here on ({event.reason})"
    ),
    events.Conflicted: "refused: another request under the request id of record {event.of}",
    events.Erased: "a subject's identity was erased (key {event.subject})",
    events.Repeated: "requested or reported once more, with nothing new",
}
_Report: TypeAlias = events.Reported | events.Imputed | events.Corrected


def describe(design: Design, event: AnyEvent, words: str | None = None) -> str:
    """Describe an event in one line. `words` are the reporter's own description of the treatment, unless erased."""
    if (said := _SAID.get(type(event))) is not None:
        return said.format(event=event)
    if isinstance(event, Recommended):
        at = f", stratum {design.strata[event.stratum]}" if event.stratum is not None else ""
        shares = f" with probability {event.probabilities[event.chosen]:.4f}" if event.probabilities else ""
        return f"recommended: {design.arms[event.chosen]}{shares}{at}"
    if isinstance(event, _Report):
        return _describe_report(design, event, words)
    if isinstance(event, events.Looked):
        return f"look {event.look + 1}, at {event.n_outcomes:,} outcomes: {decision_of(event)}"
    if isinstance(event, Created):
        return f"created: {design.policy}, arms {', '.join(design.arms)}"
    assert isinstance(event, events.EpochBegun)
    lost = f", {event.n_lost:,} records lost" if event.n_lost else ""
    return f"new epoch: arms are drawn by a fresh secret from here on ({event.reason}{lost})"


def _describe_report(design: Design, event: _Report, words: str | None) -> str:
    values = _values(design, event, words)
    if isinstance(event, events.Imputed):
        return f"no report, so the trial's rule assumes: {values}"
    if isinstance(event, events.Reported):
        when = f" (happened {event.happened.isoformat()})" if event.happened else ""
        return f"reported: {values}{when}"
    said = ["not lost to follow-up" if part == "withdrawal" else f"{part} retracted" for part in event.retract]
    return f"corrected: {', '.join(filter(None, [values, *said]))} ({event.reason})"


def _values(design: Design, event: _Report, words: str | None) -> str:
    said = []
    if event.actual is not None:
        given = "" if words is None else f" ({words})"
        said.append(f"actual {describe_taken(design.arms, event.actual)}{given}")
    if event.reward is not None:
        named = "".join(f" ({word})" for word, value in design.outcome_words.items() if value == event.reward)
        said.append(f"reward {event.reward:g}{named}")
    return ", ".join(said)


def explain(view: ReadTransaction, trial: int, recommendation_id: str) -> Iterator[str]:
    """Yield the lines of an explanation: everything that the log contains about a recommendation."""
    created = created_event(view, trial)
    design = created.design
    made, about = made_and_all(view, trial, recommendation_id)
    who = {subject.key: subject.pseudonym for subject in view.subjects(trial)}
    yield f"Trial {design.name}, recommendation {made.recommendation_id}: {design.arms[made.chosen]}"
    name = who.get(made.subject, "a subject who was erased").removeprefix("/")
    for what, says in reasons(view, trial, created, made, name):
        yield f"  {what:10} {says}"
    yield "Since then:" if len(about) > 1 else "Nothing was reported since."
    for event in about[1:]:
        words = view.note(trial, event.position) if getattr(event, "text", "") else None
        by = f", by {event.by}" if event.by else ""
        yield f"  {event.at.isoformat()}  record {event.position}  {describe(design, event, words)}{by}"


def reasons(
    view: ReadTransaction, trial: int, created: Created, made: Recommended, subject: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the reasons for a recommendation as pairs of a label and the text of the log."""
    design = created.design
    yield "when", f"{made.at.isoformat()} (record {made.position})"
    if subject is not None:
        yield "for", f"{subject} (key {made.subject})"
    yield "asked by", f"{made.by or 'not given'}, request {made.request_id or 'id not given'}"
    yield "policy", f"{design.policy}, which had learned from records 1 to {made.learned_up_to}"
    probabilities = [f"{arm} {p:.4f}" for arm, p in zip(design.arms, made.probabilities, strict=False)]
    how = "estimated by drawing" if made.estimated else "exact"
    yield "P(arm)", f"{', '.join(probabilities) or 'not known'} ({how})"
    if made.fallback:
        yield "fallback", f"the policy failed, so every arm had the same probability: {made.fallback}"
    if made.stratum is not None:
        yield "stratum", design.strata[made.stratum]
    gone = _dropped_before(view, trial, design, made)
    if decided := _prescribed_by(design, made, gone) or _decided_by(created, made):
        yield "decided by", decided
    if made.memo:
        yield "noted", f"{', '.join(f'{number:g}' for number in made.memo)} (the policy's memo of this draw)"
    yield "drawn by", _drawn_by(created, made)
    yield "version", f"{made.algorithm_version}; adhere {made.software}"


def _dropped_before(view: ReadTransaction, trial: int, design: Design, made: Recommended) -> list[str]:
    """Return the arms that looks had dropped before a recommendation. A look that recommends a stop drops no arm."""
    looks = [look for look in look_events(view, trial) if look.position < made.position and look.decision == GO_ON]
    status = looks[-1].status if looks else ()
    return [arm for arm, one in zip(design.arms, status, strict=False) if one != ACTIVE]


def _prescribed_by(design: Design, made: Recommended, dropped: Sequence[str]) -> str:
    """Return which rule of the design prescribed the probabilities, or an empty text if no rule did."""
    among = f", among the arms left (dropped at a look: {', '.join(dropped)})" if dropped else ""
    in_burn_in = made.recommendation_index < burn_in_of(design).patients
    if made.stratum is not None and in_burn_in:
        return f"what is left of a permuted block of the stratum{among}"
    if design.update == "at looks" and not in_burn_in:
        return f"the policy's probabilities at the last look{among}"
    return f"the policy's probabilities{among}" if dropped and not made.fallback else ""


def _decided_by(created: Created, made: Recommended) -> str:
    """Return the component of a hybrid or guard that picked the arm; the text is empty if the component is unknown or
    the policy has only one.
    """
    try:
        policy = as_policy(created.design.policy)
        engine = None if isinstance(policy, AnyLearner) else engine_of(created.design)
    except InputError:  # the user's own policy, not imported
        return ""
    return engine.component(made.memo) if engine and len(made.memo) == engine.memo_size else ""


def _drawn_by(created: Created, made: Recommended) -> str:
    if made.imported:
        return "nobody here: it was made elsewhere and imported"
    return "the trial's secret" if created.commitment or made.epoch else f"the seed {created.seed}"
