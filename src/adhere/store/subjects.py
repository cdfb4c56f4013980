"""Subjects: the people that recommendations are made for, similar codes, and the erasure of people.

The pseudonyms of erased people and the free text about them are deleted; only their keys remain. A key is found
through the records about a recommendation. Neither subjects nor records have an index by key, because it would slow
down every recommendation.
"""

from collections.abc import Sequence

from adhere.lookalikes import fold
from adhere.store.records import Subject
from adhere.store.transactions import ReadTransaction, WriteTransaction

_OF_SITE = "pseudonym >= ? AND pseudonym < ?"


def is_made_for(view: ReadTransaction, trial: int, recommendation_index: int, pseudonym: str) -> bool:
    """Return whether a recommendation was made for the subject with a pseudonym."""
    sql = """SELECT 1 FROM records AS made
        JOIN subjects AS known ON known.trial = made.trial AND known.key = made.subject
        WHERE made.trial = ? AND made.recommendation_index = ? AND known.pseudonym = ?"""
    return view.run(sql, (trial, recommendation_index, pseudonym)).fetchone() is not None


def subject_of(view: ReadTransaction, trial: int, pseudonym: str) -> Subject | None:
    """Return the subject with a pseudonym, or None if there is none or they were erased."""
    sql = "SELECT pseudonym, key, salt, latest FROM subjects WHERE trial = ? AND pseudonym = ?"
    row = view.run(sql, (trial, pseudonym)).fetchone()
    return Subject(*row) if row else None


def sites_of(view: ReadTransaction, trial: int) -> list[str]:
    """Return the sites of the subjects who were not erased. An empty name means no site."""
    sql = "SELECT pseudonym FROM subjects WHERE trial = ? AND pseudonym >= ? ORDER BY pseudonym LIMIT 1"
    found: list[str] = []
    after = ""
    while (row := view.run(sql, (trial, after)).fetchone()) is not None:
        found.append(row[0].partition("/")[0])
        after = _of_site(found[-1])[1]  # continue with the next site, after all subjects of this one
    return found


def latest_of(view: ReadTransaction, trial: int, key: str) -> int | None:
    """Return the index of the latest recommendation of the subject with a key, erased or not. Return None if there is
    none.

    This scans all subjects of the trial. It is rarely needed, and an index would slow down every recommendation.
    """
    sql = """SELECT latest FROM subjects WHERE trial = ? AND key = ?
        UNION ALL SELECT latest FROM erased WHERE trial = ? AND key = ?"""
    row = view.run(sql, (trial, key, trial, key)).fetchone()
    return row[0] if row else None


def pseudonyms_of(view: ReadTransaction, trial: int, keys: Sequence[str], site: str | None) -> dict[str, str]:
    """Return the pseudonyms of some keys, without the site. If a site is given, only its subjects are searched."""
    if not keys:
        return {}
    sql = f"SELECT key, pseudonym FROM subjects WHERE trial = ? AND key {view.in_clause}"
    values: list[object] = [trial, view.in_values(keys)]
    if site is not None:
        sql += f" AND {_OF_SITE}"
        values += _of_site(site)
    return {key: pseudonym.partition("/")[2] for key, pseudonym in view.run(sql, values).fetchall()}


def looking_alike(view: ReadTransaction, trial: int, site: str, code: str) -> list[Subject]:
    """Return the subjects of a site with a code similar or equal to `code` (`adhere.lookalikes`).

    This scans all subjects of the site, some milliseconds for 100,000 of them, while a person waits for a page. An
    index of the folded codes would slow down every recommendation: it took a tenth of the time of recommending and
    reporting.
    """
    sql = f"SELECT pseudonym, key, salt, latest FROM subjects WHERE trial = ? AND {_OF_SITE} AND folded = ?"
    found = view.run(f"{sql} ORDER BY pseudonym", (trial, *_of_site(site), fold(code))).fetchall()
    return [Subject(*row) for row in found]


def _of_site(site: str) -> tuple[str, str]:
    """Return the bounds of a site's pseudonyms. In byte order, 0 comes right after the slash."""
    return f"{site}/", f"{site}0"


def is_erased(view: ReadTransaction, trial: int, recommendation_index: int) -> bool:
    """Return whether the subject of a recommendation was erased."""
    sql = """SELECT 1 FROM records AS made JOIN erased ON erased.trial = made.trial AND erased.key = made.subject
        WHERE made.trial = ? AND made.recommendation_index = ?"""
    return view.run(sql, (trial, recommendation_index)).fetchone() is not None


def erase(writing: WriteTransaction, trial: int, subject: Subject) -> None:
    """Delete a subject's pseudonym, its folded form and salt, and the free text about their recommendations."""
    writing.run("DELETE FROM subjects WHERE trial = ? AND pseudonym = ?", (trial, subject.pseudonym))
    writing.run("INSERT INTO erased (trial, key, latest) VALUES (?, ?, ?)", (trial, subject.key, subject.latest))
    _delete_notes(writing, trial)


def erase_missing(writing: WriteTransaction, trial: int) -> None:
    """Erase the subjects of an imported log that have no pseudonym in it, with any free text about them."""
    found = """SELECT trial, subject, max(recommendation_index) FROM records WHERE trial = ? AND subject IS NOT NULL
        AND subject NOT IN (SELECT key FROM subjects WHERE trial = ?) GROUP BY trial, subject"""
    writing.run(f"INSERT INTO erased (trial, key, latest) {found}", (trial, trial))
    _delete_notes(writing, trial)


def _delete_notes(writing: WriteTransaction, trial: int) -> None:
    """Delete the free text about all erased subjects."""
    # From the notes, which are few, to the records about the same recommendations.
    sql = """DELETE FROM notes WHERE trial = ? AND position IN (
        SELECT note.position FROM notes AS note
        JOIN records AS noted ON noted.trial = note.trial AND noted.position = note.position
        JOIN records AS made ON made.trial = note.trial AND made.recommendation_index = noted.recommendation_index
        JOIN erased ON erased.trial = made.trial AND erased.key = made.subject
        WHERE note.trial = ?)"""
    writing.run(sql, (trial, trial))
