"""The value that `adhere.analyse` returns: it prints, shows in a notebook, and converts."""

from __future__ import annotations

from html import escape
from typing import Any

from adhere.analysis.findings import Findings


class Analysis(Findings):
    """Findings of `adhere.analyse`; `print(analysis.summary())` reads them to you, `.to_html()` is a page."""

    def summary(self, width: int = 100) -> str:
        """Everything in plain text, in lines of a width."""
        from adhere.analysis.output.summary import summary

        return summary(self, width)

    def to_json(self) -> dict[str, Any]:
        """Everything in plain values."""
        from adhere.analysis.output.to_json import to_json

        return to_json(self)

    def to_html(self) -> str:
        """One HTML file with figures and tables; needs the extra `report`."""
        from adhere.analysis.output.page import analysis_page

        return analysis_page(self)

    def __repr__(self) -> str:
        return f"<Analysis of {self.title}: {self.n_patients:,} patients, arms {', '.join(self.arms)}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.summary())}</pre>"
