"""An exported log folded in plain Python, with nothing of adhere: what was recorded, and what it teaches.

Only for `thompson/actual` with two arms and rewards 0 or 1, whose state is four counts in any order of updates.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SAMPLED = 0.02  # of recommendations, whose probabilities are worked out again
_TOLERANCE = 1e-6
_LIMIT = 1e-12  # within which probabilities are clipped


@dataclass
class Folded:
    """What a log says."""

    n_records: int = 0
    head: str = ""
    faults: list[str] = field(default_factory=list)
    by_request: dict[str, dict[str, Any]] = field(default_factory=dict)
    recommendations: dict[int, dict[str, Any]] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    kinds: dict[str, int] = field(default_factory=dict)
    n_probabilities: int = 0

    def counts(self) -> list[list[int]]:
        """Failures and successes of each arm, by what counts now."""
        counts = [[0, 0], [0, 0]]
        for known in self.recommendations.values():
            if (update := _update(known)) is not None:
                counts[update[0]][update[1]] += 1
        return counts


def fold(path: Path, rng: random.Random) -> Folded:
    """Read a log line by line."""
    folded, before, counts = Folded(), bytes(32), [[0, 0], [0, 0]]
    with path.open(encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            if line["line"] == "head" and (line["position"], line["hash"]) != (folded.n_records, before.hex()):
                folded.faults.append("the log does not end at its last record")
            if line["line"] != "record":
                continue
            body = line["body"].encode()
            before = hashlib.sha256(before + body).digest()
            event = json.loads(body)
            folded.n_records += 1
            if base64.b64decode(line["hash"]) != before or event["position"] != folded.n_records:
                folded.faults.append(f"record {folded.n_records} breaks the chain")
            _take(folded, event, counts, rng)
    folded.head = before.hex()
    if counts != folded.counts():
        folded.faults.append("the counts kept event by event differ from those of what counts at the end")
    return folded


def _take(folded: Folded, event: dict[str, Any], counts: list[list[int]], rng: random.Random) -> None:
    kind = event["event"]
    folded.kinds[kind] = folded.kinds.get(kind, 0) + 1
    request = event.get("request_id", "").partition("/")[2]  # behind the site's name
    if request and kind != "conflicted":  # which names a request that is recorded already
        if request in folded.by_request:
            folded.faults.append(f"request {request} is recorded twice")
        folded.by_request[request] = event
    if kind == "epoch-begun":  # as after a restore
        folded.faults.append(f"a new epoch began, though nothing was lost: {event['reason']}")
    number = event.get("recommendation_index")
    if number is None:
        return
    if kind == "recommended":
        if number in folded.recommendations or number != len(folded.recommendations):
            folded.faults.append(f"recommendation {number} is recorded twice, or out of order")
        known = {"id": event["recommendation_id"], "chosen": event["chosen"], "fallback": event.get("fallback", "")}
        folded.recommendations[number] = known
        if event["recommendation_id"] in folded.ids:
            folded.faults.append(f"recommendation {number} has the ID of another, {event['recommendation_id']}")
        folded.ids.add(event["recommendation_id"])
        if event.get("fallback"):
            folded.faults.append(f"recommendation {number} was a fallback: {event['fallback']}")
        elif rng.random() < _SAMPLED:
            _check_probabilities(folded, event, counts)
        return
    known = folded.recommendations[number]
    before = _update(known)
    if kind == "reported":
        for part in ("actual", "reward"):
            if event.get(part) is not None and (known.get(part) is None or part in known.get("imputed", ())):
                known[part] = event[part]
                known["imputed"] = [name for name in known.get("imputed", ()) if name != part]
    elif kind == "imputed":
        for part in ("actual", "reward"):
            if event.get(part) is not None and known.get(part) is None:
                known[part] = event[part]
                known["imputed"] = [*known.get("imputed", ()), part]
    elif kind == "corrected":
        for part in ("actual", "reward"):
            if part in event.get("retract", ()):
                known[part] = None
            elif event.get(part) is not None:
                known[part] = event[part]
                known["imputed"] = [name for name in known.get("imputed", ()) if name != part]
    elif kind in ("update-refused", "update_refused"):
        folded.faults.append(f"a update of recommendation {number} was refused")
    after = _update(known)
    if before is not None:
        counts[before[0]][before[1]] -= 1
    if after is not None:
        counts[after[0]][after[1]] += 1


def _update(known: dict[str, Any]) -> tuple[int, int] | None:
    """The arm and the reward that are learned, once both are known and the arm is one of the trial's."""
    actual, reward = known.get("actual"), known.get("reward")
    if actual is None or reward is None or actual < 0 or known["fallback"]:
        return None
    return int(actual), int(reward)


def _check_probabilities(folded: Folded, event: dict[str, Any], counts: list[list[int]]) -> None:
    (f0, s0), (f1, s1) = counts
    p1 = min(1.0 - _LIMIT, max(_LIMIT, _probability_larger(1 + s0, 1 + f0, 1 + s1, 1 + f1)))
    folded.n_probabilities += 1
    if abs(event["probabilities"][1] - p1) > _TOLERANCE:
        number, logged = event["recommendation_index"], event["probabilities"][1]
        folded.faults.append(f"recommendation {number}: probability {logged} was logged, {p1} comes out")


def _probability_larger(a0: int, b0: int, a1: int, b1: int) -> float:
    """P(θ₁ > θ₀) for θ_j ~ Beta(a_j, b_j) with whole a_j, b_j.

    >>> round(_probability_larger(1, 1, 2, 1), 6)
    0.666667
    """

    def log_beta(a: int, b: int) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    return math.fsum(
        math.exp(log_beta(a0 + i, b0 + b1) - math.log(b1 + i) - log_beta(1 + i, b1) - log_beta(a0, b0))
        for i in range(a1)
    )
