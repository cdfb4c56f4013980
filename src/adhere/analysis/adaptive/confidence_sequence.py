"""Confidence sequences for effects under adaptive allocation: sets that stay valid whenever the trial stops."""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from adhere.analysis.adaptive.running_bets import RunningBets
from adhere.analysis.estimates import ConfidenceSet, OfPair, Shape, Validity, View
from adhere.analysis.records import NOT_KNOWN, Floats, Ints, Records
from adhere.analysis.sentences import say
from adhere.checks import check_integer, check_reward, is_integer
from adhere.errors import InputError
from adhere.report.numbers import counted

_METHOD = "betting confidence sequence"
_MAX_GRID = 100_001


@dataclass(frozen=True, eq=False)
class ConfidenceSequence(OfPair):
    """Confidence sets for one effect, by number of decisions.

    After `t[m]` decisions the set is from `low[m]` to `high[m]`; `final` is the set at the end. If the records refute
    every constant effect, `final` is empty, `drift_at` is the number of decisions at which that happened, and `t`
    ends before this number.

    `log_wealth_at_zero` is the logarithm of the largest wealth so far of the two bets against "no effect". `p_value`
    = min(1, 2 / wealth) is the corresponding p-value, valid whenever the trial stops. `n_used` counts the decisions
    between the two arms with a known outcome, `n_pending` the decisions with an unknown outcome, which enters at its
    worst case.
    """

    final: ConfidenceSet
    t: Ints
    low: Floats
    high: Floats
    estimate: float | None
    log_wealth_at_zero: float
    p_value: float
    n_used: int
    n_pending: int
    drift_at: int | None
    note: str


class RunningSequence:
    """Confidence sequence that is updated as records arrive, bit for bit equal to one computed all at once.

    Bets on the decisions before the first pending outcome are computed once. Bets on later decisions are computed
    again at each request, because a pending outcome may still change the wealth.

    Parameters
    ----------
    treatment, control
        Indices of the two arms.
    view
        INTENTION_TO_TREAT or COMPLIERS.
    level
        Probability that every set of the sequence contains the effect.
    n_grid
        Number of effects from -1 to 1 that are tried. An even number is raised by one, so that 0 is among them.

    >>> records = Records("a", "b", ("old", "new"), np.array([0, 1] * 200), np.array([0, 1] * 200),
    ...                   np.array([0.0, 1.0] * 200), probabilities=np.full((400, 2), 0.5))
    >>> running = RunningSequence(1, 0)
    >>> running.update(records)
    >>> print(running.sequence().final)
    [0.930, 1.000]

    """

    def __init__(
        self,
        treatment: int,
        control: int,
        view: View = View.INTENTION_TO_TREAT,
        level: float = 0.95,
        n_grid: int = 1001,
    ) -> None:
        for name, arm in (("treatment", treatment), ("control", control)):
            if not is_integer(arm) or arm < 0:
                raise InputError(name, arm, "the number of an arm, from 0 on, not its name")
        if treatment == control:
            raise InputError("control", control, "another arm than the treatment")
        if not isinstance(view, View):
            raise InputError("view", view, "View.INTENTION_TO_TREAT or View.COMPLIERS")
        if view not in (View.INTENTION_TO_TREAT, View.COMPLIERS):
            raise InputError("view", view.value, "intention-to-treat or compliers")
        if not 0.0 < level < 1.0:
            raise InputError("level", level, "a number between 0 and 1, such as 0.95")
        check_integer("n_grid", n_grid, 3, _MAX_GRID)
        self._view, self._level = view, level
        self._pair = treatment, control
        self._names = str(treatment), str(control)
        self._bets = RunningBets(treatment, control, view, level, n_grid)

    def update(self, records: Records) -> None:
        """Add decisions made after all earlier ones; their outcomes may still be missing.

        Positions in the log, if given, count from the start of the whole log. A batch must not be split over two
        calls: decisions of the next call are treated as later.
        """
        self._check(records)
        self._bets.add(records)

    def _check(self, records: Records) -> None:
        treatment, control = self._pair
        for name, arm in (("treatment", treatment), ("control", control)):
            if arm >= records.n_arms:
                raise InputError(name, arm, f"the number of an arm of the records, from 0 to {records.n_arms - 1}")
        if records.probabilities is None:
            raise InputError("records", records.name, "records with the probabilities of the arms", why_not(records))
        self._names = records.arms[treatment], records.arms[control]

    def revise(self, records: Records, n_same: int = 0) -> None:
        """Replace all records, for example after a correction.

        The first `n_same` decisions and their reports must be the same as at the last call; bets on most of them are
        not computed again. Do not use this for a sequence that was updated with `update`, or for records with
        batches.
        """
        self._check(records)
        if records.batch is not None:
            raise InputError("records", records.name, "records in the order of decision, without batches")
        self._bets.revise(records, n_same)

    def report(
        self, entry: int, *, reward: float | None = None, actual: int | None = None, at: int | None = None
    ) -> None:
        """Report the outcome or the arm taken for an earlier decision (counted from 0).

        The report is known from position `at` in the log on. If the records have no positions, it is known from the
        next decision on.
        """
        self._bets.report(entry, None if reward is None else check_reward("reward", reward), actual, at)

    def sequence(self, n_times: int = 200) -> ConfidenceSequence:
        """Return the sequence so far, with sets at about `n_times` numbers of decisions."""
        bets = self._bets
        wealth = bets.wealth()
        refuted_at, largest = wealth.refuted_at(), float(wealth.log_largest[len(wealth.theta) // 2])
        last = refuted_at.max()
        drift_at = int(last) if math.isfinite(last) else None
        end = bets.n_entries if drift_at is None else drift_at - 1
        times = np.unique(np.linspace(min(1, end), end, n_times).round().astype(np.int64))
        is_left = refuted_at > times[:, None]
        low = wealth.theta[is_left.argmax(axis=1)]
        high = wealth.theta[len(refuted_at) - is_left[:, ::-1].argmax(axis=1)]
        return ConfidenceSequence(
            view=self._view,
            treatment=self._names[0],
            control=self._names[1],
            final=final_set(low, high, drift_at, _METHOD, self._level),
            t=times,
            low=low,
            high=high,
            estimate=wealth.balance() if bets.is_informative and drift_at is None else None,
            log_wealth_at_zero=largest,
            p_value=min(1.0, 2.0 * math.exp(-largest)),
            n_used=bets.n_used,
            n_pending=bets.n_pending,
            drift_at=drift_at,
            note=note_on(self._view, bets, drift_at),
        )


def final_set(low: Floats, high: Floats, drift_at: int | None, method: str, level: float) -> ConfidenceSet:
    """Return the last set of a sequence; it is empty after drift."""
    if drift_at is not None:
        return ConfidenceSet(math.inf, -math.inf, method, Validity.ANY_TIME, Shape.EMPTY, level)
    return ConfidenceSet(float(low[-1]), float(high[-1]), method, Validity.ANY_TIME, level=level)


def confidence_sequences(
    records: Records, level: float = 0.95, n_grid: int = 1001, n_times: int = 200
) -> tuple[ConfidenceSequence, ...]:
    """Compute a confidence sequence for each pair of arms: by intention-to-treat, then for compliers.

    Pairs with control come first. The result is empty if `why_not` returns a reason. A pair has no sequence for
    compliers if no treatment taken is known, or if patients assigned one of the two arms took a third arm.
    """
    if why_not(records):
        return ()
    sequences = []
    for treatment, other in records.pairs:
        no_compliers = why_no_compliers(records, treatment, other)
        for view in [View.INTENTION_TO_TREAT] + [View.COMPLIERS] * (not no_compliers):
            running = RunningSequence(treatment, other, view, level, n_grid)
            running.update(records)
            sequence = running.sequence(n_times)
            sequences.append(replace(sequence, note=f"{sequence.note} {no_compliers}".strip()))
    return tuple(sequences)


def why_not(records: Records) -> str:
    """Return a sentence on why these records have no confidence sequences, or an empty string if they have."""
    if records.probabilities is None:
        return say("sequences_need_probabilities")
    if records.count is not None and bool(np.any(records.count != 1)):
        return say("sequences_need_order")
    if n_lacking := int(records.lacks_probabilities.sum()):
        return say("sequences_need_all_probabilities", n=n_lacking, total=len(records))
    if not records.is_exact.any():
        return say("sequences_need_exact_probabilities")
    return ""


def why_no_compliers(records: Records, treatment: int, control: int) -> str:
    """Return a sentence on why two arms have no estimate for compliers, or an empty string if they have one."""
    of_pair = records.is_one_of(treatment, control)
    actual = records.actual[of_pair]
    if not np.any(actual != NOT_KNOWN):
        return say("nobody_reported")
    if bool(np.any((actual >= 0) & (actual != treatment) & (actual != control))):
        return say("some_took_a_third", first=records.arms[treatment], second=records.arms[control])
    return ""


_TINY: Final = 0.01  # an allocation with a probability below this is reported as having no floor


def note_on(view: View, bets: RunningBets, drift_at: int | None) -> str:
    """Return the note of a sequence, on its target, drift, exclusions, missing reports and information."""
    sentences = [say("constant_target") if drift_at is None else say("sequence_drifted", drift_at=drift_at)]
    if view is View.COMPLIERS:
        sentences.append(say("under_monotonicity"))
    if n := bets.n_took_neither:
        sentences.append(say("count_as_not_treated", patients=counted(n, "patient"), s="s" * (n == 1)))
    if bets.n_refused:
        sentences.append(say("no_exact_probabilities", patients=counted(bets.n_refused, "patient")))
    if bets.n_imputed:
        sentences.append(say("imputed_by_rule", n=bets.n_imputed))
    if bets.n_pending:
        sentences.append(say("at_the_worst_case", patients=counted(bets.n_pending, "patient")))
    n_decisions = bets.n_used + bets.n_pending
    none_by_chance = 0 < n_decisions == bets.n_certain
    tells = {"n": n_decisions, "information": bets.information}
    if bets.smallest < _TINY or none_by_chance:
        sentences.append(say("no_floor", smallest=0.0 if none_by_chance else bets.smallest, **tells))
    elif bets.n_certain:
        sentences.append(say("without_chance", n_certain=bets.n_certain, **tells))
    return " ".join(sentences)
