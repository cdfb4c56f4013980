"""Recommend an arm for a subject, or repeat the recommendation that is still open."""

from adhere.errors import ConflictError
from adhere.trial.domain.commands import Recommend
from adhere.trial.domain.due_looks import choose_or_fall_back, stratum_number
from adhere.trial.domain.events import SOFTWARE, Recommended, Repeated
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context
from adhere.trial.verbs.entries import check_may_enter, check_not_alike, check_site, open_entry


def decide(state: TrialState, command: Recommend, context: Context) -> list[Change]:
    """Make a new recommendation. If the policy fails, draw an arm with equal probabilities."""
    subject = context.subject
    assert subject is not None
    if state.design.blinded:
        context.kits.check_usable(state.n_recommendations)
    stratum = stratum_number(state.design, command.stratum)
    check_site(state, command)
    if (entry := open_entry(state, subject.key, subject.latest)) is not None:
        return [Change(Repeated(**context.stamp(state), recommendation_index=entry.recommendation_index))]
    check_may_enter(state, command, subject.latest)
    check_not_alike(state, command, context.alike)
    if state.status == "paused":
        sentence = f"trial {command.trial!r} is paused; it makes recommendations again once it is resumed"
        raise ConflictError("trial", command.trial, "a trial that is not paused", sentence)
    _check_not_full(state)
    choice = choose_or_fall_back(state, stratum)
    event = Recommended(
        **context.stamp(state),
        recommendation_index=state.n_recommendations,
        recommendation_id=state.engine.keys.new_id(state.n_recommendations),
        epoch=state.epochs[-1],
        subject=subject.key,
        site=command.site or "",
        stratum=stratum,
        earlier=None if state.design.entries == "repeated" else subject.latest,
        learned_up_to=state.position,
        chosen=choice.chosen,
        probabilities=choice.probabilities,
        memo=choice.memo,
        estimated=state.engine.estimated and not choice.fallback and not choice.prescribed,
        algorithm_version=state.engine.algorithm_version,
        software=SOFTWARE,
        fallback=choice.fallback,
    )
    return [Change(event, subject._replace(latest=event.recommendation_index))]


def _check_not_full(state: TrialState) -> None:
    """Refuse a patient beyond the number that the design plans."""
    design = state.design
    if design.n_patients is not None and state.n_recommendations >= design.n_patients:
        sentence = f"trial {design.name!r} has all of its {design.n_patients} patients (n_patients of its design)"
        raise ConflictError("n_patients", design.n_patients, "a trial that is not full", sentence)
