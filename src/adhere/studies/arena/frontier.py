"""The frontier: what a policy gains where rewards depend on the arm taken alone, and loses where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adhere.studies.arena.cells import MISLEADING, UNCONFOUNDED

_ENDS = ("", "_low", "_high")


def frontier_rows(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each policy, horizon and misleading family in which it plays as well as where it is unconfounded."""
    found = {(row["family"], row["n_patients"], row["policy"]): row for row in results}
    rows = []
    for (family, horizon, policy), gains in found.items():
        for other in MISLEADING:
            loses = found.get((other, horizon, policy))
            if family != UNCONFOUNDED or loses is None:
                continue
            mean, low, high = (loses[f"difference{end}"] for end in _ENDS)
            row = {f"gain{end}": gains[f"difference{end}"] for end in _ENDS}
            row |= {"policy": policy, "label": gains["label"], "n_patients": horizon, "loss_family": other}
            row |= {"loss": -mean, "loss_low": -high, "loss_high": -low}
            rows.append(row | {"loss_worst_5_percent": -loses["worst_5_percent"]})
    return rows
