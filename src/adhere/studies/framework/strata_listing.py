"""The listing of the populations that a study makes up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adhere.report.section import Listing


def strata_listing(strata: Iterable[tuple[str, str, Sequence[float | None]]]) -> Listing:
    """A line for each stratum: its population, name, probability and mean rewards; a dash for an arm never taken."""
    return Listing(
        "The populations: their strata and the mean rewards of the arms that these take.",
        ("population", "stratum", "probability", "reward of control", "reward of treatment"),
        [
            [population, stratum, *("–" if number is None else f"{number:.2f}" for number in numbers)]
            for population, stratum, numbers in strata
        ],
    )
