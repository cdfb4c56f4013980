"""How the studies put lists, intervals, shares and compliance types into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adhere.report.section import Listing
from adhere.simulation import Estimate


def listed(texts: Sequence[str]) -> str:
    """Several things in a sentence.

    >>> listed(["EXP3", "UCB1", "Thompson"])
    'EXP3, UCB1 and Thompson'
    """
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def ends(one: Estimate) -> tuple[float, float]:
    """An interval, or the mean twice where there is none."""
    return (one.mean, one.mean) if one.low is None or one.high is None else (one.low, one.high)


def percent(one: Estimate) -> str:
    """A share with its interval, where this is wide enough to be seen.

    >>> percent(Estimate(0.495, 0.016, 0.464, 0.526))
    '49.5% [46.4%, 52.6%]'
    >>> percent(Estimate(0.0002, 0.00001, 0.00018, 0.00022))
    '<0.1%'
    """
    mean, low, high = map(share, (one.mean, *ends(one)))
    return mean if low == high else f"{mean} [{low}, {high}]"


def share(value: float) -> str:
    """A share as a percentage; one too small to print is not called nothing."""
    return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"


def compliance_type_listing(types: Iterable[tuple[str, str, Sequence[float | None]]]) -> Listing:
    """A line for each compliance type: population, name, probability, mean rewards; a dash for an arm never taken."""
    return Listing(
        "The populations: their compliance types and the mean rewards of the arms that these take.",
        ("population", "compliance type", "probability", "reward of control", "reward of treatment"),
        [
            [population, compliance_type, *("–" if number is None else f"{number:.2f}" for number in numbers)]
            for population, compliance_type, numbers in types
        ],
    )
