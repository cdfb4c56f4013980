"""Two small populations with every difficulty at once: non-compliance, confounding and fractional rewards."""

from __future__ import annotations

from collections.abc import Sequence

import oracle
from adhere.populations import Counts
from contract.policies_under_test import recycles

Rows = Sequence[tuple[int, int, float, int]]  # chosen, actual, reward, patients

# Arm 1 is better when chosen (0.71 against 0.38), but those told 1 who take 0 all the same do best of all: under
# uniform allocation Actual sees 0.67 for arm 0 and 0.39 for arm 1, and Comply 0.51 and 0.56.
TWO_ARMS: Rows = (
    (0, 0, 0.0, 20), (0, 0, 0.4, 15), (0, 0, 1.0, 24), (0, 1, 0.0, 28), (0, 1, 0.4, 9), (0, 1, 1.0, 4),
    (1, 1, 0.0, 18), (1, 1, 0.4, 7), (1, 1, 1.0, 25), (1, 0, 0.0, 3), (1, 0, 0.4, 6), (1, 0, 1.0, 41),
)  # fmt: skip
# Chosen sees 0.32, 0.51 and 0.66, and other arms are taken for each of them.
THREE_ARMS: Rows = (
    (0, 0, 0.0, 60), (0, 0, 0.4, 10), (0, 0, 1.0, 20), (0, 2, 0.4, 3), (0, 2, 1.0, 7),
    (1, 1, 0.0, 20), (1, 1, 0.4, 25), (1, 1, 1.0, 30), (1, 0, 0.0, 12), (1, 0, 0.4, 3), (1, 0, 1.0, 10),
    (2, 2, 0.0, 15), (2, 2, 0.4, 10), (2, 2, 1.0, 50), (2, 0, 0.0, 10), (2, 1, 0.4, 5), (2, 1, 1.0, 10),
)  # fmt: skip


def rows_for(policy: str, n_arms: int) -> Rows:
    """The population of so many arms with which a policy shares its compiled code (see `graded_rewards`)."""
    rows = {2: TWO_ARMS, 3: THREE_ARMS}[n_arms]
    return [(c, a, reward or 0.4, n) for c, a, reward, n in rows] if recycles(policy) else rows


def engine_population(rows: Rows) -> Counts:
    """As the package takes it."""
    arms = sorted({str(chosen) for chosen, *_ in rows})
    return Counts("mixed", tuple(arms), [(str(c), str(a), reward, n) for c, a, reward, n in rows])  # type: ignore[misc]


def oracle_population(rows: Rows) -> oracle.Population:
    """As the oracle takes it."""
    per_arm = [[row for row in rows if row[0] == arm] for arm in range(1 + max(row[0] for row in rows))]
    return [[(n / sum(row[3] for row in own), actual, reward) for _, actual, reward, n in own] for own in per_arm]
