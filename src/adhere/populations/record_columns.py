"""Which columns of a table hold the arm chosen, the arm taken, the reward and a count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adhere.errors import InputError, nearest

# What each column may be called; the first set of names that fits best is taken.
_VOCABULARIES: tuple[dict[str, str], ...] = (
    {"chosen": "chosen", "actual": "actual", "reward": "reward"},
    {"chosen": "TRTP", "actual": "TRTA", "reward": "AVAL"},
    {"chosen": "ARM", "actual": "ACTARM", "reward": "AVAL"},
)
_COUNTS = ("count", "n")
# What an export of adhere's says besides, wherever the table has it.
EXPORTED = ("TRTASTAT", "WITHDFL", "TRTADTYP", "DTYPE")
ROLES = ("chosen", "actual", "reward", "count")


def find_columns(source: str, titles: Sequence[str], given: Mapping[str, str | None], hint: str) -> dict[str, str]:
    """The title of each role's column, `given` or known by its name; without a count each row is a patient.

    >>> find_columns("t.csv", ["taken", "arm", "AVAL"], {"actual": "taken"}, "")
    {'chosen': 'arm', 'actual': 'taken', 'reward': 'AVAL'}
    """
    known = {title.lower(): title for title in reversed(titles)}
    for role, title in given.items():
        if title is not None and title.lower() not in known:
            raise InputError(f"{source}, column for {role}", title, nearest(title, titles))
    words = max(_VOCABULARIES, key=lambda names: sum(name.lower() in known for name in names.values()))
    wanted = {role: given.get(role) or name for role, name in words.items()}
    missing = [title for title in wanted.values() if title.lower() not in known]
    if missing:
        listed = f"missing column{'s' * (len(missing) > 1)}: {', '.join(missing)}"
        found_here = ", ".join(titles[:10]) + (f" and {len(titles) - 10} more" if len(titles) > 10 else "")
        sentence = f"{source}: {listed} (found: {found_here}){hint}"
        raise InputError(source, ", ".join(titles), f"also {', '.join(missing)}", sentence)
    counts = [given.get("count"), *(_COUNTS if words is _VOCABULARIES[0] else reversed(_COUNTS))]
    count = next((name for name in counts if name is not None and name.lower() in known), None)
    found = {**wanted, "count": count} if count else wanted
    found = {role: known[title.lower()] for role, title in found.items()}
    lowered = [title.lower() for title in titles]
    for title in found.values():
        if lowered.count(title.lower()) > 1:
            raise InputError(f"{source}, header", title, "each column once")
    return found
