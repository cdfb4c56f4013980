"""What every section must keep to."""

from __future__ import annotations

from adhere.report.section import Section


def check_texts_are_whole(section: Section) -> None:
    """No number is missing, and no sentence left unfilled."""
    for text in (section.question, section.result, section.uncertainty, *(one.ours for one in section.claims)):
        assert "nan" not in text
        assert "None" not in text
        assert "{" not in text
