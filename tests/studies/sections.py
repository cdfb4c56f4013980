"""What every section must keep to."""

from __future__ import annotations

import re

from adhere.report.section import Section

MAX_RESULT_WORDS = 40
NAMES = ("ThompsonBounded", "HierarchicalBandit", "EXP3", "UCB1", "Thompson")  # each spelt this way in a sentence


def check_texts_are_whole(section: Section) -> None:
    """No number is missing, no sentence left unfilled, and the result is one sentence that can be read aloud."""
    texts = (section.question, section.result, section.uncertainty, *section.details)
    for text in (*texts, *(one.ours for one in section.claims)):
        assert "nan" not in text
        assert "None" not in text
        assert "{" not in text
    check_result(section.result)
    for text in texts:
        check_names(text)


def prose(section: Section) -> str:
    """All it says in sentences."""
    return " ".join([section.question, section.result, section.uncertainty, *section.details])


def check_result(result: str) -> None:
    """One sentence, of so many words at most, without intervals: those are in the tables and figures."""
    assert len(result.split()) <= MAX_RESULT_WORDS, result
    assert "[" not in result
    assert re.findall(r"[.?!](?=\s|$)", result) == ["."], result


def check_names(text: str) -> None:
    """Names keep their capitals."""
    for name in NAMES:
        found = re.findall(rf"\b{name}\b", text, re.IGNORECASE)
        assert set(found) <= {name}, text
