"""Check that every trial's log ends where its head says, before anything is appended to it."""

from __future__ import annotations

from adhere.errors import StoreError
from adhere.store.transactions import ReadTransaction

_LAST = "(SELECT max(position) FROM records WHERE trial = trials.id)"
_TORN = f"""
    SELECT name FROM trials LEFT JOIN records ON records.trial = trials.id AND records.position = {_LAST}
    WHERE trials.position <> coalesce(records.position, 0) OR (trials.position > 0 AND trials.hash <> records.hash)
    ORDER BY trials.id LIMIT 1
"""
_INCOMPLETE = """
    SELECT name FROM trials WHERE position <> (SELECT count(*) FROM records WHERE trial = trials.id)
    ORDER BY id LIMIT 1
"""


def check_heads(view: ReadTransaction, where: str, *, counting: bool = False) -> None:
    """Refuse a store in which a trial's last record is not its head, or, if counted, in which a record is missing."""
    torn = view.run(_TORN).fetchone() or (counting and view.run(_INCOMPLETE).fetchone())
    if torn:
        raise StoreError(
            f"{where}: the log of trial {torn[0]!r} does not end as its head says, or lacks records: {view.torn_by}"
        )
