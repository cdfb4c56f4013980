"""Estimates from records, each with its 95% interval: who took what, and the mean reward for each analysis set."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from adhere.intervals import RewardSums, wilson
from adhere.populations.records import NoArm, Record, Records, Taken


@dataclass(frozen=True)
class Estimated:
    """A share or a mean of n patients and its interval; without patients there is no value."""

    n: int
    value: float | None
    low: float
    high: float


@dataclass(frozen=True)
class TakenCell:
    """Of those for whom an arm was chosen: how many took this, their share, and their mean reward where known."""

    chosen: str
    taken: Taken
    share: Estimated
    mean: Estimated
    n: int


def taken_cells(records: Records) -> list[TakenCell]:
    """What was taken where each arm was chosen; the share is that of those of whom it is known."""
    others = [kind for kind in NoArm if any(record.taken is kind for record in records.patients if record.chosen)]
    takable: list[Taken] = [*records.arms, *others]
    cells = []
    for chosen in records.arms:
        group = {record: count for record, count in records.patients.items() if record.chosen == chosen}
        known = sum(count for record, count in group.items() if record.taken is not NoArm.UNKNOWN)
        for taken in takable:
            members = {record: count for record, count in group.items() if record.taken == taken}
            n = sum(members.values())
            if isinstance(taken, NoArm) and not n:
                continue
            has_share = known and taken is not NoArm.UNKNOWN
            share = Estimated(known, n / known, *wilson(n, known)) if has_share else Estimated(0, None, 0.0, 1.0)
            cells.append(TakenCell(chosen, taken, share, _mean(members), n))
    return cells


def means_by_protocol(records: Records) -> dict[str, dict[str, Estimated]]:
    """The mean reward of each arm: by the arm chosen, by the arm taken, and of those who took the arm chosen.

    Each has every patient with what it needs: for the first, an outcome is enough.
    """
    known = {record: count for record, count in records.patients.items() if record.chosen}

    def means(arm_of: Any) -> dict[str, Estimated]:
        return {
            arm: _mean({record: count for record, count in known.items() if arm_of(record) == arm})
            for arm in records.arms
        }

    return {
        "chosen": means(lambda record: record.chosen),
        "actual": means(lambda record: record.taken),
        "comply": means(lambda record: record.chosen if record.chosen == record.taken else None),
    }


def records_json(records: Records) -> dict[str, Any]:
    """Everything that is known of a table's records, in plain values."""
    left_out = records.left_out()
    return {
        "name": records.name,
        "arms": list(records.arms),
        "columns": dict(records.columns),
        "n_patients": records.total(),
        "used": records.total() - sum(left_out.values()),
        "left_out": left_out,
        "lost_to_follow_up": records.lost,
        "imputed": dict(records.imputed),
        "lower_is_better": records.lower_is_better,
        "compliance": [
            {
                "chosen": cell.chosen,
                "actual": cell.taken.value if isinstance(cell.taken, NoArm) else cell.taken,
                "n": cell.n,
                "outcomes": cell.mean.n,
                "share": asdict(cell.share),
                "mean": asdict(cell.mean),
            }
            for cell in taken_cells(records)
        ],
        "means": [
            {"protocol": protocol, "arm": arm, **asdict(mean)}
            for protocol, means in means_by_protocol(records).items()
            for arm, mean in means.items()
        ],
    }


def _mean(patients: dict[Record, int]) -> Estimated:
    sums = RewardSums()
    for record, count in patients.items():
        if record.reward is not None and count:
            sums.add(record.reward, count)
    return Estimated(sums.n, *sums.estimate())
