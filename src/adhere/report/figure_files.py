"""A study's figures as files."""

from __future__ import annotations

from adhere.report.section import Drawing
from adhere.report.style import SETTINGS, figure_file

SUFFIXES = (".png", ".svg")


def figure_files(drawing: Drawing) -> dict[str, bytes]:
    """The contents of the figure's files by suffix, drawn once; the same figure gives the same bytes."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        figure = drawing.draw()
        return {suffix: figure_file(figure, suffix) for suffix in SUFFIXES}
