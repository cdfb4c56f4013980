"""A trial's log: its records, recommendations derived again from it, and who read what."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec

from adhere_client.answers.log import Access, DerivedAgain, LogPage, Verification
from adhere_client.request import Steps, get, recommendation_path, trial_path


class _AccessPage(msgspec.Struct):
    accesses: list[Access]
    next: int | None = None


def records(trial: str, *, after: int | None = None, before: int | None = None) -> Steps[LogPage]:
    """Up to 100 records of a trial's log in words: the last ones, those after a record, or those before it."""
    given = {"after": after, "before": before}
    query = urlencode({name: value for name, value in given.items() if value is not None})
    return get(f"{trial_path(trial, 'records')}{'?' * bool(query)}{query}", LogPage)


def derive_again(trial: str, id: str) -> Steps[DerivedAgain]:  # noqa: A002
    """Derive a recommendation again from the log as it stood then; says whether the same comes out, and why."""
    return get(recommendation_path(trial, id, "derivation"), DerivedAgain)


def verify(trial: str) -> Steps[Verification]:
    """Verify a trial's log now: whether its chain of hashes is whole."""
    return get(trial_path(trial, "verification"), Verification)


def accesses(trial: str) -> Steps[list[Access]]:
    """Who read what of a trial: results and exports, and in a blinded trial all that reveals an arm."""
    path = trial_path(trial, "accesses")
    found: list[Access] = []
    after: int | None = 0
    while after is not None:
        page = yield from get(f"{path}?after={after}", _AccessPage)
        found += page.accesses
        after = page.next
    return found
