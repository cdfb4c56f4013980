"""What a reader of a confidence sequence must know, in sentences."""

from __future__ import annotations

from typing import Final

from adhere.analysis.adaptive.running_bets import RunningBets
from adhere.analysis.view import View

_TINY: Final = 0.01  # a probability below which an allocation is said to have no floor


def note_on(view: View, bets: RunningBets, drift_at: int | None) -> str:
    """The target, drift, what was left out, what is not known, and how much the allocation can tell."""
    sentences = ["Its target is an effect that is constant over time."]
    if drift_at is not None:
        sentences = [
            f"Drift: after {drift_at:,} decisions no constant effect agrees with the records; the effect changed over"
            " time, or the logged probabilities are wrong."
        ]
    if view is View.COMPLIERS:
        sentences.append("Under monotonicity, and if the arm chosen acts through the arm taken alone.")
    if bets.n_took_neither:
        sentences.append(
            f"{_patients(bets.n_took_neither)} took neither arm and count{_s(bets.n_took_neither)} as not treated."
        )
    if bets.n_refused:
        sentences.append(f"{_patients(bets.n_refused)} left out: no exact probabilities were logged.")
    if bets.n_imputed:
        sentences.append(f"{bets.n_imputed:,} imputed by the trial's rules, and taken as observed.")
    if bets.n_pending:
        sentences.append(f"{_patients(bets.n_pending)} with a missing or pending report: taken at the worst case.")
    n_decisions = bets.n_used + bets.n_pending
    none_by_chance = 0 < n_decisions == bets.n_certain
    tell = f"can tell as much as {bets.information:,.0f} allocated half and half."
    if bets.smallest < _TINY or none_by_chance:
        smallest = 0.0 if none_by_chance else bets.smallest
        sentences.append(
            f"The probability of an arm fell to {smallest:.2g}: without a floor on the allocation no method"
            f" learns much. The {n_decisions:,} decisions between the two arms {tell}"
        )
    elif bets.n_certain:
        sentences.append(
            f"At {bets.n_certain:,} of {n_decisions:,} decisions between the two arms one of them had no probability,"
            " as at the end of a permuted block, or once an arm is dropped: these tell nothing, and all of them"
            f" together {tell}"
        )
    return " ".join(sentences)


def _patients(n: int) -> str:
    return f"{n:,} patient{'s' if n != 1 else ''}"


def _s(n: int) -> str:
    return "s" if n == 1 else ""
