"""Result of `adhere.evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adhere.design.design import Design
from adhere.errors import InputError, listed
from adhere.evaluation.evaluation_data import EvaluationData
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.intervals import Estimate
from adhere.report.numbers import counted
from adhere.simulation.results.lookup import HasFrame

if TYPE_CHECKING:
    import polars


class Evaluation(HasFrame, EvaluationData):
    """Operating characteristics of designs in scenarios.

    Call `evaluate` to make one. It prints, is shown as a table in a notebook, and converts to data frames and JSON.
    ``evaluation[scenario, design]`` returns the characteristics of one design in one scenario.

    Parameters
    ----------
    designs : tuple of Design
        Designs that were simulated.
    scenarios : tuple of Scenario
        Scenarios that the trials met.
    n_trials : int
        Number of trials of each design in each scenario.
    seed : int
        Seed of the simulation.
    version : str
        Version of adhere.
    results : tuple of Characteristics
        Results of the first scenario for every design, then those of the second scenario, and so on.
    kept_trials : KeptTrials, optional
        Results of single trials, if they were kept.
    notes : tuple of str, default ()
        Remarks about the simulation.

    See Also
    --------
    evaluate : Simulate trials of designs.
    Calibration : A design whose type I error was calibrated.

    Examples
    --------
    >>> import adhere
    >>> design = '''
    ... name = "headache"
    ... policy = "uniform"
    ... arms = ["walk", "aspirin"]
    ... n_patients = 100
    ... stopping = { by = "posterior", superiority = 0.975, inferiority = "1 - superiority" }
    ... '''
    >>> evaluation = adhere.evaluate(design, {"compliance": 0.8}, n_trials=100, progress=False)
    >>> [scenario.name for scenario in evaluation.scenarios]
    ['sharp null, compliance 80%', 'average null, compliance 80%']
    >>> evaluation["sharp null, compliance 80%"].find("sample_size").estimate.mean
    100.0

    """

    def __repr__(self) -> str:
        size = f"{counted(self.n_trials, 'trial')} of each design in each scenario, seed {self.seed}"
        return self._in_short(size, [one.in_short() for one in self.results], ".summary(), .to_polars(), .to_html()")

    def _repr_html_(self) -> str:
        from adhere.evaluation.output.summary import notebook_table

        return notebook_table(self)

    def summary(self, width: int = 100) -> str:
        """Return a summary as text for a terminal, in lines of at most `width` characters (60 to 100)."""
        from adhere.evaluation.output.summary import summary

        return summary(self, width)

    def characteristic(
        self,
        name: str,
        *,
        scenario: Scenario | str | int | None = None,
        design: Design | str | int = 0,
        arm: str | None = None,
        estimand: str | None = None,
        method: str | None = None,
    ) -> Estimate:
        """Return one operating characteristic with its Monte Carlo interval.

        Parameters
        ----------
        name : str
            Name of the characteristic, such as ``"power"``, ``"type_one"`` or ``"sample_size"``.
        scenario : Scenario, str or int, optional
            Scenario, its name or its index. It may be left out if there is only one.
        design : Design, str or int, default 0
            Design, its name or its index. The default is the first design.
        arm : str, optional
            Name of an arm. The default is the characteristic of the trial as a whole.
        estimand : {"intention-to-treat", "compliers"}, optional
            Estimand, for characteristics of estimates such as ``"bias"``.
        method : {"naive", "any-time valid"}, optional
            Method of estimation, for characteristics of estimates.

        Returns
        -------
        Estimate
            Has `mean`, `se`, `low` and `high`.

        Raises
        ------
        InputError
            If a name is unknown (the message lists the names), or if the characteristic has no meaning there
            (the message says why).

        See Also
        --------
        Evaluation.to_polars : Every characteristic as a data frame.
        Evaluation.summary : The most important characteristics as text.

        Examples
        --------
        >>> import adhere
        >>> design = '''
        ... name = "headache"
        ... policy = "thompson"
        ... arms = ["walk", "aspirin"]
        ... n_patients = 200
        ... looks.every = 100
        ... stopping = { by = "posterior", superiority = 0.99 }
        ... '''
        >>> evaluation = adhere.evaluate(design, {"effect": 0.3, "compliance": 0.8}, n_trials=200, progress=False)
        >>> power = evaluation.characteristic("power", scenario="effect 0.3, compliance 80%")
        >>> power.low < power.mean < power.high
        True

        """
        if scenario is None:
            if len(self.scenarios) > 1:
                names = listed(one.name for one in self.scenarios)
                raise InputError("scenario", None, f"one of {names}", f"scenario: choose one of {names}")
            scenario = 0
        found = self[scenario, design].find(name, arm, estimand, method)
        if found.estimate is None:
            sentence = f"{name} has no meaning in scenario {self[scenario, design].scenario.name!r}: {found.reason}"
            raise InputError("characteristic", name, "one that has a meaning in the scenario", sentence)
        return found.estimate

    def to_html(self, command: str = "") -> str:
        """Return one HTML file to attach to a protocol; it states the `command` that repeats it (extra `report`)."""
        from adhere.evaluation.output.page import design_page

        return design_page(self, command)

    def to_polars(self) -> polars.DataFrame:
        """Return a data frame with a row per characteristic, including its paired difference from the first design.

        Columns: scenario, design, name, arm, estimand, method, mean, se, low, high, reason, difference,
        difference_se, difference_low, difference_high. Numbers without a meaning are null, and `reason` says why.
        """
        from adhere.evaluation.to_data import as_polars

        return as_polars(self.results)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain data. The seed is a string, because some JSON readers round large integers."""
        from adhere.evaluation.to_data import as_json

        return {
            "version": self.version,
            "seed": str(self.seed),
            "n_trials": self.n_trials,
            "notes": list(self.notes),
            **as_json(self.designs, self.scenarios, self.results),
        }
