"""Erase people: their pseudonyms and the free text about them are deleted, and who was erased is kept, by key.

A key is found in the records about a recommendation, since neither subjects nor records have an index by key: it
would cost every recommendation.
"""

from __future__ import annotations

from adhere.store.records import Subject
from adhere.store.transactions import ReadTransaction, WriteTransaction


def is_erased(view: ReadTransaction, trial: int, recommendation_index: int) -> bool:
    """Whether the person whom a recommendation was made for was erased."""
    sql = """SELECT 1 FROM records AS made JOIN erased ON erased.trial = made.trial AND erased.key = made.subject
        WHERE made.trial = ? AND made.recommendation_index = ?"""
    return view.run(sql, (trial, recommendation_index)).fetchone() is not None


def erase(writing: WriteTransaction, trial: int, subject: Subject) -> None:
    """Delete a subject's pseudonym, its folded form and salt, and the free text about their recommendations."""
    writing.run("DELETE FROM subjects WHERE trial = ? AND pseudonym = ?", (trial, subject.pseudonym))
    writing.run("INSERT INTO erased (trial, key, latest) VALUES (?, ?, ?)", (trial, subject.key, subject.latest))
    _delete_notes(writing, trial)


def erase_missing(writing: WriteTransaction, trial: int) -> None:
    """Erase in an imported log whom it has no pseudonym of, with any free text about them."""
    found = """SELECT trial, subject, max(recommendation_index) FROM records WHERE trial = ? AND subject IS NOT NULL
        AND subject NOT IN (SELECT key FROM subjects WHERE trial = ?) GROUP BY trial, subject"""
    writing.run(f"INSERT INTO erased (trial, key, latest) {found}", (trial, trial))
    _delete_notes(writing, trial)


def _delete_notes(writing: WriteTransaction, trial: int) -> None:
    """Delete the free text about everybody who was erased."""
    # From the notes, which are few, to the records about the same recommendations.
    sql = """DELETE FROM notes WHERE trial = ? AND position IN (
        SELECT note.position FROM notes AS note
        JOIN records AS noted ON noted.trial = note.trial AND noted.position = note.position
        JOIN records AS made ON made.trial = note.trial AND made.recommendation_index = noted.recommendation_index
        JOIN erased ON erased.trial = made.trial AND erased.key = made.subject
        WHERE note.trial = ?)"""
    writing.run(sql, (trial, trial))
