"""Roles of a table's columns: the arm chosen, the arm taken, the reward, a count and others."""

import re
from collections.abc import Collection, Mapping, Sequence

from adhere.errors import InputError, nearest

# Names that each column may have. The first set of names that fits best is used.
_VOCABULARIES: tuple[dict[str, str], ...] = (
    {"chosen": "chosen", "actual": "actual", "reward": "reward"},
    {"chosen": "TRTP", "actual": "TRTA", "reward": "AVAL"},
    {"chosen": "ARM", "actual": "ACTARM", "reward": "AVAL"},
    {"chosen": "TRT01P", "actual": "TRT01A", "reward": "AVAL"},
)
_COUNTS = ("count", "n")
LOWER = "LOWERFL"  # Y in every row: a lower outcome is better
# Further columns of an export by adhere, each of which is optional.
EXPORTED = ("TRTASTAT", "WITHDFL", "INERRFL", "TRTADTYP", "DTYPE", "REHEARSAL")
# These columns describe TRTA and AVAL only, not other columns for the arm taken and the outcome.
_SAID_OF = {
    **dict.fromkeys(("TRTASTAT", "TRTADTYP", "TRTAPOS"), ("TRTA", "actual")),
    **dict.fromkeys(("DTYPE", "AVALPOS", LOWER), ("AVAL", "reward")),
}
ROLES = ("chosen", "actual", "reward", "count")
_OPTIONAL = {
    "stratum": ("stratum",),
    "time": ("time", "RANDDTM", "RANDDT"),
    "subject": ("subject", "USUBJID", "SUBJID"),
    "propensity": ("propensity", "PROPENS"),
}
_PREFIX = re.compile(r"(?:prob_|propensity_|p_)(?=.)", re.IGNORECASE)


def find_columns(source: str, titles: Sequence[str], given: Mapping[str, str | None], hint: str) -> dict[str, str]:
    """Return the title of each role's column, either `given` or known by name. Without a count, each row is a
    patient.

    >>> find_columns("t.csv", ["taken", "arm", "AVAL"], {"actual": "taken"}, "")
    {'chosen': 'arm', 'actual': 'taken', 'reward': 'AVAL'}
    """
    known = {title.lower(): title for title in reversed(titles)}
    for role, title in given.items():
        if title is not None and not isinstance(title, str):
            raise InputError(role, title, "the name of a column, as text")
    for role in ROLES:
        _check_known(source, titles, role, given.get(role))
    words = max(_VOCABULARIES, key=lambda names: sum(name.lower() in known for name in names.values()))
    wanted = {role: given.get(role) or name for role, name in words.items()}
    missing = [title for title in wanted.values() if title.lower() not in known]
    if missing:
        listed = f"missing column{'s' * (len(missing) > 1)}: {', '.join(missing)}"
        found_here = ", ".join(titles[:10]) + (f" and {len(titles) - 10} more" if len(titles) > 10 else "")
        sentence = f"{source}: {listed} (found: {found_here}){hint}"
        raise InputError(source, ", ".join(titles), f"also {', '.join(missing)}", sentence)
    counts = [given.get("count"), *(_COUNTS if words is _VOCABULARIES[0] else reversed(_COUNTS))]
    used = {title.lower() for role, title in given.items() if title is not None and role != "count"}
    free = [name for name in counts if name is not None and (name == given.get("count") or name.lower() not in used)]
    count = next((name for name in free if name.lower() in known), None)
    found = {**wanted, "count": count} if count else wanted
    found = {role: known[title.lower()] for role, title in found.items()}
    _check_once(source, titles, found)
    check_roles(source, found)
    return found


def find_optional(source: str, titles: Sequence[str], given: Mapping[str, str | None]) -> dict[str, str]:
    """Return the titles of the columns for stratum, time, subject and propensity that the table has.

    >>> find_optional("t.csv", ["TRTP", "USUBJID", "age"], {"stratum": "Age"})
    {'stratum': 'age', 'subject': 'USUBJID'}
    """
    known = {title.lower(): title for title in reversed(titles)}
    found = {}
    used = {title.lower() for title in given.values() if title is not None}
    for role, names in _OPTIONAL.items():
        title = given.get(role)
        if role == "propensity" and title and any(one.startswith(title) and one != title for one in titles):
            continue  # a prefix of several columns
        _check_known(source, titles, role, title)
        free = [title] if title else [name for name in names if name.lower() not in used]
        name = next((name for name in free if name.lower() in known), None)
        if name:
            found[role] = known[name.lower()]
    _check_once(source, titles, found)
    return found


def exported_columns(titles: Sequence[str], found: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the title of each column of an export, by name.

    Leave out columns that describe `TRTA` or `AVAL` if another column has that role.

    >>> exported_columns(["AVAL", "lowerfl"], {"reward": "AVAL"}, [LOWER])
    {'LOWERFL': 'lowerfl'}
    >>> exported_columns(["AVAL", "LOWERFL", "score"], {"reward": "score"}, [LOWER])
    {}
    """
    known = {title.upper(): title for title in reversed(titles)}

    def is_other(name: str) -> bool:
        of, role = _SAID_OF.get(name, ("", ""))
        return role in found and known.get(of, found[role]) != found[role]

    return {name: known[name] for name in names if name in known and not is_other(name)}


def check_roles(source: str, found: Mapping[str, str]) -> None:
    """Refuse a column with two roles, except that a column of numbered subjects may also give the time."""
    expected = "one role for each column"
    for title in found.values():
        roles = [role for role, one in found.items() if one == title]
        if len(roles) > 1 and {*roles} != {"time", "subject"}:
            where = f"{source}, column {title}"
            raise InputError(where, roles, expected, f"{where}: got {' and '.join(roles)}, expected {expected}")


def may_hold_probabilities(titles: Sequence[str], prefix: str | None = None) -> list[str]:
    """Return the columns that may contain the probability of an arm, by the prefix of their titles."""
    return [title for title in titles if _prefix_of(title, prefix)]


def probability_columns(
    titles: Sequence[str], assigned: Collection[str], prefix: str | None = None
) -> dict[str, str]:
    """Return the title of the probability column of each arm, by a common prefix: PROB_…, propensity_…, p_….

    The prefix with the most assigned arms is used; the result is empty if no prefix has any. The prefix p_ begins
    many other titles, so only assigned arms count for it.

    >>> probability_columns(["PROB_walk", "PROB_tea", "p_value"], ["walk"])
    {'walk': 'PROB_walk', 'tea': 'PROB_tea'}
    """
    groups: dict[str, dict[str, str]] = {}
    small = {name.lower(): name for name in assigned}
    for title in titles:
        if begins := _prefix_of(title, prefix):
            name = title[len(begins) :]
            name = name if name in assigned else small.get(name.lower(), name)
            if name in assigned or begins.lower() != "p_":
                groups.setdefault(begins, {}).setdefault(name, title)
    best = max(groups.values(), key=lambda group: len(set(group) & set(assigned)), default={})
    return best if set(best) & set(assigned) or not assigned else {}


def _prefix_of(title: str, prefix: str | None) -> str:
    match = _PREFIX.match(title) if prefix is None else re.match(f"{re.escape(prefix)}(?=.)", title)
    return match[0] if match else ""


def _check_known(source: str, titles: Sequence[str], role: str, title: str | None) -> None:
    if title is not None and title.lower() not in {one.lower() for one in titles}:
        raise InputError(f"{source}, column for {role}", title, nearest(title, titles))


def _check_once(source: str, titles: Sequence[str], found: Mapping[str, str]) -> None:
    lowered = [title.lower() for title in titles]
    for title in found.values():
        if lowered.count(title.lower()) > 1:
            raise InputError(f"{source}, header", title, "each column once")
