"""Whom a recommendation was made for, and subjects by key, by pseudonym, or by a code that looks like theirs."""

from __future__ import annotations

from collections.abc import Sequence

from adhere.store.records import Subject
from adhere.store.transactions import ReadTransaction

# What is easily taken for something else when a code is read or typed.
_LOOKS_LIKE = (("O", "0"), ("I", "1"), ("L", "1"), (" ", ""))
_OF_SITE = "pseudonym >= ? AND pseudonym < ?"


def is_made_for(view: ReadTransaction, trial: int, recommendation_index: int, pseudonym: str) -> bool:
    """Whether a recommendation was made for the subject with a pseudonym."""
    sql = """SELECT 1 FROM records AS made
        JOIN subjects AS known ON known.trial = made.trial AND known.key = made.subject
        WHERE made.trial = ? AND made.recommendation_index = ? AND known.pseudonym = ?"""
    return view.run(sql, (trial, recommendation_index, pseudonym)).fetchone() is not None


def subject_of(view: ReadTransaction, trial: int, pseudonym: str) -> Subject | None:
    """The subject with a pseudonym, unless they were erased."""
    sql = "SELECT pseudonym, key, salt, latest FROM subjects WHERE trial = ? AND pseudonym = ?"
    row = view.run(sql, (trial, pseudonym)).fetchone()
    return Subject(*row) if row else None


def pseudonyms_of(view: ReadTransaction, trial: int, keys: Sequence[str], site: str | None) -> dict[str, str]:
    """The pseudonyms that stand for some keys, without the site; those of one site are looked for among its own."""
    if not keys:
        return {}
    sql = f"SELECT key, pseudonym FROM subjects WHERE trial = ? AND key {view.among}"
    values: list[object] = [trial, view.together(keys)]
    if site is not None:
        sql += f" AND {_OF_SITE}"
        values += _of_site(site)
    return {key: pseudonym.partition("/")[2] for key, pseudonym in view.run(sql, values).fetchall()}


def looking_alike(view: ReadTransaction, trial: int, site: str, code: str) -> list[Subject]:
    """Subjects of a site whose codes look like one: O and 0, I, L and 1, blanks, small and capital letters."""
    folded = "upper(pseudonym)"
    for letter, other in _LOOKS_LIKE:
        folded = f"replace({folded}, '{letter}', '{other}')"
    sql = f"SELECT pseudonym, key, salt, latest FROM subjects WHERE trial = ? AND {_OF_SITE} AND {folded} = ?"
    values = (trial, *_of_site(site), _folded(f"{site}/{code}"))
    return [Subject(*row) for row in view.run(f"{sql} ORDER BY pseudonym", values).fetchall()]


def _of_site(site: str) -> tuple[str, str]:
    """What the pseudonyms of a site are between: in order of bytes, 0 comes right after the slash."""
    return f"{site}/", f"{site}0"


def _folded(pseudonym: str) -> str:
    text = pseudonym.upper()
    for letter, other in _LOOKS_LIKE:
        text = text.replace(letter, other)
    return text
