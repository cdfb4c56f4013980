"""Compute interim results of a trial for three analysis sets: intention-to-treat, as-treated, per-protocol."""

from collections.abc import Sequence

import msgspec

from adhere.analysis.cells import cells_of
from adhere.analysis.estimates import Quantity, View
from adhere.analysis.fixed_sample.means import arm_means
from adhere.analysis.flow import ArmFlow, flow
from adhere.design.design import Design
from adhere.intervals import RewardSums
from adhere.store import ReadTransaction
from adhere.trial.domain.due_looks import next_probabilities
from adhere.trial.domain.log_records import read_histories
from adhere.trial.log.records import RecordRows, records_of_rows
from adhere.trial.policy.engine import Engine
from adhere.trial.writing.running_state import read_state

NOTE = (
    "Plain means are biased here, because arms were chosen by earlier outcomes: an arm with bad luck is tried less "
    "and cannot recover. Intervals assume fixed allocation; 'adhere analyse' gives intervals that remain valid."
)
_IMPUTED = " Values imputed by the trial's rule for missing reports are included (see imputed_parts)."


class ArmEstimate(msgspec.Struct, frozen=True):
    """A mean reward and its 95% interval. Without rewards the mean is None and the interval is 0 to 1."""

    arm: str
    n: int
    mean: float | None
    low: float
    high: float


class Compliance(msgspec.Struct, frozen=True):
    """The arms taken by patients with the same recommendation, and the share that followed it, with its 95%
    interval.
    """

    chosen: str
    took: dict[str, int]
    took_nothing: int
    took_other: int
    unknown: int
    share: float | None
    low: float
    high: float


class Results(msgspec.Struct, frozen=True, omit_defaults=True):
    """A trial's results: counts of its recommendations, and estimates for three analysis sets.

    Each recommendation is complete (fully reported), waiting, lost to follow-up, or entered in error. Entry errors
    are in no estimate.
    """

    trial: str
    head: str
    records: int
    recommendations: int
    complete: int
    waiting: int
    lost_to_follow_up: int
    imputed_parts: int
    fallbacks: int
    refused_updates: int
    intention_to_treat: list[ArmEstimate]
    as_treated: list[ArmEstimate]
    per_protocol: list[ArmEstimate]
    compliance: list[Compliance]
    probabilities: dict[str, float]
    note: str
    entered_in_error: int = 0
    rehearsal: bool = False
    lower_is_better: bool = False


def results_of(view: ReadTransaction, trial: int, design: Design, engine: Engine) -> Results:
    """Return the results at the head of the log. They use the same records as the monitor."""
    head, state = view.head(trial), read_state(view, trial, design, engine)
    rows, n_fallbacks, n_refused = RecordRows(len(design.arms)), 0, 0
    for made, history in read_histories(view, trial):
        rows.add(made, history)
        n_fallbacks += bool(history.fallback) and not history.in_error
        n_refused += 0 if history.in_error else len(history.refused)
    records = records_of_rows(design, rows)
    cells, patients = cells_of(records), flow(records)
    pending, lost = state.counts.pending, sum(rows.lost)
    n_imputed = sum(rows.imputed_actual) + sum(rows.imputed_reward)
    return Results(
        trial=design.name,
        head=head.hash.hex(),
        records=head.position,
        recommendations=state.n_recommendations,
        complete=len(rows) - pending - lost,
        waiting=pending,
        lost_to_follow_up=lost,
        entered_in_error=rows.n_in_error,
        imputed_parts=n_imputed,
        fallbacks=n_fallbacks,
        refused_updates=n_refused,
        intention_to_treat=_estimates(View.INTENTION_TO_TREAT, design.arms, cells.by_chosen()),
        as_treated=_estimates(View.AS_TREATED, design.arms, cells.by_actual()),
        per_protocol=_estimates(View.PER_PROTOCOL, design.arms, cells.as_assigned()),
        compliance=[_compliance(arm, design.arms) for arm in patients.arms],
        probabilities=dict(zip(design.arms, next_probabilities(state), strict=True)),
        rehearsal=design.rehearsal,
        lower_is_better=design.lower_is_better,
        note=NOTE + _IMPUTED * bool(n_imputed),
    )


def _estimates(view: View, arms: Sequence[str], sums: Sequence[RewardSums]) -> list[ArmEstimate]:
    return [ArmEstimate(one.arm, one.mean.n, one.mean.value, *_ends(one.mean)) for one in arm_means(view, arms, sums)]


def _compliance(flow: ArmFlow, arms: Sequence[str]) -> Compliance:
    took = {arm: flow.took_it if arm == flow.arm else flow.took_others[arm] for arm in arms}
    unknown = flow.not_reported + flow.lost
    share = flow.compliance
    return Compliance(flow.arm, took, flow.took_nothing, flow.took_other, unknown, share.value, *_ends(share))


def _ends(quantity: Quantity) -> tuple[float, float]:
    return (quantity.sets[0].low, quantity.sets[0].high) if quantity.sets else (0.0, 1.0)
