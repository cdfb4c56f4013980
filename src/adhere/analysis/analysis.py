"""The value that `adhere.analyse` returns: it prints, shows in a notebook, and converts."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from adhere.analysis.estimates import Comparison, View
from adhere.analysis.findings import Findings
from adhere.errors import InputError, listed, nearest
from adhere.frames import as_pandas

if TYPE_CHECKING:
    import pandas
    import polars


class Analysis(Findings):
    """Findings of `analyse`: every view of a treatment's effect, and which of them to trust.

    Call `analyse` to make one. `print(analysis.summary())` shows everything as text, and `to_html` writes a page.

    Attributes
    ----------
    arms : tuple of str
        Names of the arms, in their order.
    control : str
        Arm that the other arms are compared with.
    level : float
        Level of all confidence sets.
    n_patients : int
        Number of patients in the records.
    has_probabilities : bool
        Whether the records contain the probabilities with which arms were drawn.
    adaptive : bool
        Whether the allocation followed the outcomes.
    digest : str
        Digest of the data.
    warnings : tuple of str
        Warnings about the data, in words.

    See Also
    --------
    analyse : Analyse records of a trial.
    Evaluation : Simulated operating characteristics of a design.

    Examples
    --------
    >>> import adhere
    >>> analysis = adhere.analyse("stroke-aspirin")
    >>> analysis.arms, analysis.control, analysis.n_patients
    (('none', 'aspirin'), 'none', 19422)
    >>> round(analysis.effect("intention-to-treat", "aspirin").estimate, 4)
    0.0039

    """

    def effect(self, view: View | str, treatment: str, control: str | None = None) -> Comparison:
        """Return one effect: the comparison of two arms by one view.

        If the view has an estimate that is stratified, that estimate is returned. If the allocation was adaptive, the
        estimate, the interval and the p-value are those of the confidence sequence, which is valid for it.

        Parameters
        ----------
        view : {"intention-to-treat", "compliers", "as-treated", "per-protocol"}
            Patients who are compared, and by which arm.
        treatment : str
            Name of the arm whose effect is wanted.
        control : str, optional
            Name of the arm it is compared with. The default is the control of the trial.

        Returns
        -------
        Comparison
            Has `estimate`, `conf_int()`, `p_value` and `to_frame()`.

        Raises
        ------
        InputError
            If there is no such view or no such pair of arms. The message lists the names.

        See Also
        --------
        Analysis.to_polars : Every estimate of every view, as a data frame.
        Analysis.summary : Every view side by side, and which of them to trust.

        Examples
        --------
        >>> import adhere
        >>> effect = adhere.analyse("stroke-aspirin").effect("compliers", "aspirin")
        >>> effect
        <Comparison: compliers, aspirin against none: 0.0043 [-0.005, 0.013], p = 0.34>
        >>> round(effect.estimate, 4), round(effect.p_value, 2)
        (0.0043, 0.34)
        >>> low, high = effect.conf_int()

        """
        views = {one.value: one for one in View}
        wanted = view if isinstance(view, View) else views.get(str(view).strip().lower())
        if wanted is None:
            raise InputError("view", view, nearest(str(view), views))
        pair = treatment, self.control if control is None else control
        found = [one for one in self.effects.comparisons if one.view is wanted and one.pair == pair]
        if not found:
            pairs = [" against ".join(one) for one in self.pairs]
            raise InputError("treatment and control", " against ".join(pair), f"one of {listed(pairs)}")
        one = next((one for one in found if one.difference.value is not None), found[0])
        sequence = next((other for other in self.sequences if other.is_like(one)), None)
        if not self.adaptive or sequence is None:
            return one
        difference = replace(one.difference, value=sequence.estimate, sets=(sequence.final, *one.difference.sets))
        return replace(one, difference=difference, p_value=sequence.p_value, adjusted={})

    def to_polars(self) -> polars.DataFrame:
        """Return a row for each estimate: treatment, control, view, method, estimate, low, high and guarantee.

        Ends of an unbounded confidence set are infinite; unknown values are null.
        """
        from adhere.analysis.output.effect_rows import effects_frame

        return effects_frame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows of `to_polars` as a frame of pandas (extra `pandas`)."""
        return as_pandas(self.to_polars())

    def summary(self, width: int = 100) -> str:
        """Return all results as plain text, in lines of at most `width` characters."""
        from adhere.analysis.output.summary import summary

        return summary(self, width)

    def to_json(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        from adhere.analysis.output.to_json import to_json

        return to_json(self)

    def to_html(self) -> str:
        """Return one HTML file with figures and tables; needs the extra `report`."""
        from adhere.analysis.output.page import analysis_page

        return analysis_page(self)

    def __repr__(self) -> str:
        return f"<Analysis of {self.title}: {self.n_patients:,} patients, arms {', '.join(self.arms)}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.summary())}</pre>"
