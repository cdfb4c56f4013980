"""Whom a recommendation was made for."""

from __future__ import annotations

from adhere.store.transactions import ReadTransaction


def is_made_for(view: ReadTransaction, trial: int, recommendation_id: int, pseudonym: str) -> bool:
    """Whether a recommendation was made for the subject with a pseudonym."""
    sql = """SELECT 1 FROM records AS made
        JOIN subjects AS known ON known.trial = made.trial AND known.key = made.subject
        WHERE made.trial = ? AND made.recommendation_id = ? AND known.pseudonym = ?"""
    return view.run(sql, (trial, recommendation_id, pseudonym)).fetchone() is not None
