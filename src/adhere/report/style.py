"""How every figure looks, and how it becomes a file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from adhere.report.section import ReportFigure

TEXT_SIZE = 8  # points, for a figure set half a page wide
SETTINGS: Any = {
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "svg.hashsalt": "adhere",  # the same figure is the same file
    "font.size": TEXT_SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
SUFFIXES = (".png", ".svg")  # of a figure in a report
_RESOLUTION = 200
_NO_DATE = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def figure_file(figure: Figure, suffix: str) -> bytes:
    """The contents of a file with the figure, of the kind its suffix says: .png, .svg or .pdf.

    To be called within `matplotlib.rc_context(SETTINGS)`, like whatever drew the figure.
    """
    kind = suffix.lower().removeprefix(".")
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=_RESOLUTION, metadata=_NO_DATE[kind])
    return file.getvalue()


def figure_files(one: ReportFigure) -> dict[str, bytes]:
    """The contents of a report's figure by suffix, drawn once; the same figure gives the same bytes."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        figure = one.draw()
        return {suffix: figure_file(figure, suffix) for suffix in SUFFIXES}
