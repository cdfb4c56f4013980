"""Result of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adhere.checks import is_integer
from adhere.errors import InputError, listed, nearest
from adhere.intervals import Estimate
from adhere.policies import Policy, parse_policy
from adhere.populations import Population
from adhere.simulation.measures.measure import MEASURES
from adhere.simulation.measures.moments import Moments
from adhere.simulation.results.lookup import ResultList, index_of
from adhere.simulation.results.outcome import Config, Outcome
from adhere.simulation.results.runs import Runs

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class SimulationResult(ResultList[Outcome]):
    """Results of `simulate`: one outcome for each population and policy, in the order given.

    Call `simulate` to make one. It prints, is shown as a table in a notebook, and converts to data frames.
    ``result[0]`` is the first outcome; ``result[population, policy]`` selects an outcome by its names.

    Parameters
    ----------
    config : Config
        Settings of the simulation.
    outcomes : tuple of Outcome
        Outcome of each population and policy.
    kept_runs : Runs, optional
        Results of single runs, if they were kept.

    See Also
    --------
    simulate : Simulate policies.
    Evaluation : Results for designs with looks and stopping rules.

    Examples
    --------
    >>> from adhere import simulate
    >>> result = simulate(["thompson", "uniform"], "defiers", n_patients=100, n_runs=20, progress=False)
    >>> len(result), result[0].policy
    (2, 'thompson')
    >>> result["defiers", "thompson"].surplus.mean > result["defiers", "uniform"].surplus.mean
    True

    """

    config: Config
    outcomes: tuple[Outcome, ...]
    kept_runs: Runs | None = None

    @property
    def runs(self) -> Runs:
        """Final values of each run, if `simulate` was called with `keep_runs=True`."""
        if self.kept_runs is None:
            sentence = "the runs were not kept: simulate(…, keep_runs=True)"
            raise InputError("runs", None, "keep_runs=True", sentence)
        return self.kept_runs

    def __getitem__(self, key: object) -> Outcome:
        """Return the outcome for `result[i]` or `result[population, policy]`, each given by value, text or index."""
        if is_integer(key):
            return self.outcomes[index_of("outcome", key, (), [()] * len(self))]
        if not isinstance(key, tuple) or len(key) != 2:
            raise InputError("outcome", key, "a number or a pair: result[population, policy]")
        population, policy = key
        text = population.name if isinstance(population, Population) else str(population)
        names = list(dict.fromkeys(one.population for one in self.outcomes))
        name = names[index_of("population", text, (text, text.strip().lower()), [(one,) for one in names])]
        alike = [one for one in self.outcomes if one.population == name]
        spellings, known = (str(policy), _canonical(policy)), [(one.policy, one.resolved) for one in alike]
        return alike[index_of("policy", policy, spellings, known)]

    def compare(
        self,
        policy: Policy | str | int,
        other: Policy | str | int,
        *,
        population: Population | str | int | None = None,
        measure: str = "surplus",
    ) -> Estimate:
        """Return a measure of one policy minus that of another, on the same patients.

        Parameters
        ----------
        policy, other : Policy, str or int
            Policies, their texts or their indices. Without `keep_runs=True`, one of them must be the reference policy
            of the simulation.
        population : Population, str or int, optional
            Population, its name or its index. It may be left out if there is only one.
        measure : {"surplus", "realised_surplus", "reward", "regret"}, default "surplus"
            Measure at the end of the trial.

        Returns
        -------
        Estimate
            Mean of the paired difference over runs, with its Monte Carlo standard error and 95% interval.

        Raises
        ------
        InputError
            If a name is unknown (the message lists the names), or if the runs of two policies were not kept.

        See Also
        --------
        Outcome.difference : The same difference from the reference policy.
        simulate : Its parameters `reference` and `keep_runs` decide which policies can be compared.

        Examples
        --------
        >>> import adhere
        >>> result = adhere.simulate(["thompson", "thompson/actual"], "defiers", n_patients=100, n_runs=50)
        >>> difference = result.compare("thompson", "thompson/actual")
        >>> 0 < difference.low < difference.mean < difference.high
        True

        """
        names = list(dict.fromkeys(one.population for one in self.outcomes))
        if population is None and len(names) > 1:
            raise InputError("population", None, "", f"population: choose one of {listed(names)}")
        where = names[population or 0] if population is None or is_integer(population) else population
        first, second = self[where, policy], self[where, other]
        if first is second:
            raise InputError("other", second.policy, "another policy than the first")
        if second.policy == self.config.reference:
            return first.difference(measure)
        if first.policy == self.config.reference:
            return -second.difference(measure)
        if self.kept_runs is None:
            sentence = (
                f"to compare {first.policy} with {second.policy}, simulate with keep_runs=True, or with reference= "
                f"one of them (the reference is {self.config.reference})"
            )
            raise InputError("other", second.policy, self.config.reference, sentence)
        if measure not in MEASURES:
            raise InputError("measure", measure, nearest(measure, MEASURES))
        by_run = {id(one): runs for one, runs in zip(self.outcomes, self.kept_runs.by_outcome, strict=True)}
        runs = by_run[id(first)].columns[measure] - by_run[id(second)].columns[measure]
        return Moments.of(runs[:, None]).estimate(0)

    def __repr__(self) -> str:
        lines = [one.in_short() for one in self.outcomes]
        return self._in_short(self.config.size, lines, ".summary(), .to_polars(), .plot()")

    def _results(self) -> Sequence[Outcome]:
        return self.outcomes

    def _repr_html_(self) -> str:
        from adhere.simulation.results.result_table import html_table

        return html_table(self.config, self.outcomes)

    def to_json(self) -> list[dict[str, Any]]:
        """Return an object for each outcome, with the configuration. The seed is text: JSON readers may round it."""
        config = {name: value for name, value in vars(self.config).items() if name != "grid"}
        return [{**outcome.to_json(), **config, "seed": str(self.config.seed)} for outcome in self.outcomes]

    def summary(self, width: int = 80) -> str:
        """Return a plain table of surplus, difference, regret and allocation, with explanations."""
        from adhere.simulation.results.result_table import result_table

        return result_table(self.config, self.outcomes, width)

    def plot(self, notes: Sequence[str] = ()) -> Figure:
        """Plot the surplus along the trial and the quantiles of its final value, and return a matplotlib figure.

        A notebook shows the figure, and `plot().savefig("surplus.png")` saves it. `notes` are printed below it.
        """
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            raise ImportError(
                "plot needs matplotlib: pip install 'adhere[report]' (in a checkout: '.[report]')"
            ) from None
        from adhere.simulation.results.surplus_plot import surplus_plot

        return surplus_plot(self.config, self.outcomes, notes)

    def to_polars(self, *, final: bool = False) -> polars.DataFrame:
        """Return every measure along the grid as a long table: population, policy, measure, t, mean, se, low, high.

        With `final`, return a row for each population and policy instead, with final values and their spread.
        """
        from adhere.simulation.results.result_frames import along_trial, final_figures

        return final_figures(self.outcomes) if final else along_trial(self.outcomes)

    def to_pandas(self, *, final: bool = False) -> pandas.DataFrame:
        """Return the frame of `to_polars` as a pandas frame (extra `pandas`)."""
        from adhere.frames import as_pandas

        return as_pandas(self.to_polars(final=final))

    def save(self, folder: str | Path) -> None:
        """Write `result.parquet`, `result.json` and, if runs were kept, `runs.parquet`. All are written, or none."""
        from adhere.simulation.results.result_files import save  # loads polars

        runs = None if self.kept_runs is None else self.kept_runs.to_polars()
        save(Path(folder), vars(self.config), [vars(outcome) for outcome in self.outcomes], runs)

    @staticmethod
    def load(folder: str | Path) -> SimulationResult:
        """Return the result that `save` wrote, equal to the last bit."""
        from adhere.simulation.results.result_files import load

        config, described, table = load(Path(folder))
        outcomes = tuple(Outcome(**outcome) for outcome in described)
        runs = None if table is None else Runs.from_polars(table, outcomes, config["n_runs"])
        return SimulationResult(Config(**config), outcomes, runs)


def _canonical(policy: object) -> str:
    """Return the canonical text of a policy. Other names, such as a plain object's, are returned unchanged."""
    try:
        return str(policy if isinstance(policy, Policy) else parse_policy(str(policy)))
    except InputError:
        return str(policy)
