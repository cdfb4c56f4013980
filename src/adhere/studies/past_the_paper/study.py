"""Go past the paper: repeat its Figures 1 and 3 with policies that the paper does not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars

from adhere.policies import optimal_surplus
from adhere.policies.numerics.mediated_posterior import ODDS
from adhere.populations.stroke import SOURCE
from adhere.report.dots import dots
from adhere.report.numbers import estimate_texts
from adhere.simulation import Estimate, SimulationResult
from adhere.simulation.simulate import POOLED
from adhere.studies.framework.study import Experiment, Study, Tables
from adhere.studies.framework.words import Cells, Charts, Table, percent, section_of
from adhere.studies.lineup import HEADLINES, along_table, estimate_in, final_table, is_above, surplus_lines
from adhere.studies.small_trials.study import READINGS
from adhere.studies.small_trials.study import TITLES as READING_TITLES
from adhere.studies.stroke_trial.study import TITLES as TRIAL_TITLES
from adhere.studies.stroke_trial.study import TRIALS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPERS, MEDIATED, GUARDED, PEERS, OPTIMAL = (
    "the paper's",
    "what was taken, while nothing refutes it",
    "the same, guarded",
    "peers",
    "optimal for so many patients",
)


class Entry(NamedTuple):
    """A policy, its label in the section, and the group it belongs to."""

    group: str
    label: str
    policy: str


_INNER = "mediated-thompson"
THOMPSON, BOUNDED, HIERARCHICAL = (
    Entry(PAPERS, label, one.policy)
    for label, one in zip(
        ("Thompson under Chosen", "ThompsonBounded, recycling", "HierarchicalBandit on ε-greedy"),
        HEADLINES,
        strict=True,
    )
)
DEFAULT = Entry(MEDIATED, "MediatedThompson", _INNER)
EVEN = Entry(MEDIATED, "MediatedThompson, odds 1", f"{_INNER}(odds=1)")
CERTAIN = Entry(MEDIATED, "MediatedThompson, odds ∞", f"{_INNER}(odds=inf)")
BOUNDED_DEFAULT = Entry(GUARDED, "ThompsonBounded on MediatedThompson", f"thompson-bounded({_INNER})")
FLOOR = Entry(GUARDED, "floor of 10% on MediatedThompson", f"floor({_INNER}, share=0.1)")
HAC_UCB = Entry(PEERS, "HAC-UCB", "hac-ucb")
GITTINS = Entry(OPTIMAL, "Gittins index", "gittins")
OPTIMAL_CHOSEN = Entry(OPTIMAL, "optimal on arms chosen", "bayes-optimal")
OPTIMUM = Entry(OPTIMAL, "optimum", "bayes-optimal-aware")

HYBRIDS = (BOUNDED, HIERARCHICAL)
ANY_HORIZON = (THOMPSON, *HYBRIDS, DEFAULT, EVEN, CERTAIN, BOUNDED_DEFAULT, FLOOR, HAC_UCB)
SMALL = (*ANY_HORIZON, GITTINS, OPTIMAL_CHOSEN, OPTIMUM)
OPTIMUM_READING = "uniform-other"  # the prior for which the optimum is computed
SMALL_PATIENTS = 12
# Half as many runs of the stroke trial as in the paper: most differences here are larger.
EXPERIMENTS = {
    "stroke": Experiment([one.policy for one in ANY_HORIZON], TRIALS, 10_000, 1000, THOMPSON.policy, pooled=True),
    "small": Experiment(
        [one.policy for one in SMALL], tuple(READINGS), SMALL_PATIENTS, 100_000, THOMPSON.policy, grid=1
    ),
}


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Return the final figures of both experiments, the stroke trials' course, and fractions of the optimum."""
    small = final_table(results["small"], SMALL, ["surplus"])
    return {
        "stroke": final_table(results["stroke"], ANY_HORIZON, ["surplus"]),
        "along": along_table(results["stroke"], ANY_HORIZON),
        "small": small,
        "fractions": _fractions(small),
    }


def _fractions(small: polars.DataFrame) -> polars.DataFrame:
    """Return the surplus as a fraction of the optimum, on the small trials for which the optimum is known."""
    optimum = optimal_surplus(int(small["n_patients"][0]), OPTIMUM_READING)
    own = small.filter(population=OPTIMUM_READING, measure="surplus").drop("measure")
    numbers = [polars.col(name) / optimum for name in ("mean", "se", "low", "high")]
    return own.with_columns(*numbers, optimum=polars.lit(optimum))


class Facts:
    """The final figures, by policy."""

    def __init__(self, tables: Tables) -> None:
        self.stroke, self.along, self.small, self.fractions = (
            tables[name] for name in ("stroke", "along", "small", "fractions")
        )
        self.n_patients, self.n_runs = (int(self.stroke[name][0]) for name in ("n_patients", "n_runs"))
        self.n_small, self.n_simulations = (int(self.small[name][0]) for name in ("n_patients", "n_runs"))
        self.optimum = float(self.fractions["optimum"][0])

    def lives(self, one: Entry, population: str = POOLED, measure: str = "surplus") -> Estimate:
        """Return the surplus lives on a stroke trial, or pooled."""
        return estimate_in(self.stroke, label=one.label, population=population, measure=measure)

    def rewards(self, one: Entry, reading: str, measure: str = "surplus") -> Estimate:
        """Return the surplus in a small trial."""
        return estimate_in(self.small, label=one.label, population=reading, measure=measure)

    def fraction(self, one: Entry) -> Estimate:
        """Return the surplus in a small trial as a fraction of the optimum."""
        return estimate_in(self.fractions, label=one.label)

    def gains(self) -> list[str]:
        """Return how many more lives MediatedThompson saves than Thompson sampling on the same patients, by trial."""
        gains = [self.lives(DEFAULT, trial, "difference") for trial in TRIALS]
        return estimate_texts(gains, sign="+", digits=1)

    def hybrids_below(self) -> list[str]:
        """Return the paper's hybrids that save significantly fewer lives than MediatedThompson."""
        return [one.label for one in HYBRIDS if is_above(self.lives(DEFAULT), self.lives(one))]

    def nearest_to_optimum(self) -> Entry:
        """Return the policy nearest to the optimum among policies that do not know its prior."""
        return max((one for one in SMALL if one != OPTIMUM), key=lambda one: self.fraction(one).mean)


def charts(facts: Facts) -> Charts:
    """Return all figures of the study."""
    stroke_note = f"Means of {facts.n_runs:,} runs of {facts.n_patients:,} patients; 95% intervals."
    small_note = f"Means of {facts.n_simulations:,} simulations; 95% intervals."
    fractions = facts.fractions.with_columns(row="label", style="group", panel=polars.lit(""))
    along = facts.along.with_columns(panel=polars.col("population").replace_strict(TRIAL_TITLES))
    return {
        "past-the-paper-stroke": lambda: _final_chart(
            facts.stroke,
            TRIAL_TITLES,
            f"surplus lives among {facts.n_patients:,} patients",
            stroke_note,
            shared=True,
        ),
        "past-the-paper-fractions": lambda: dots(fractions, x_label="fraction of the optimum", note=small_note),
        "past-the-paper-along": lambda: surplus_lines(along, "surplus lives", stroke_note),
        "past-the-paper-small": lambda: _final_chart(
            facts.small,
            READING_TITLES,
            f"surplus (rewards per trial of {facts.n_small} patients)",
            f"{small_note} Panels: the arm that a patient who does not comply takes.",
        ),
    }


def _final_chart(
    table: polars.DataFrame, titles: dict[str, str], x_label: str, note: str, *, shared: bool = False
) -> Figure:
    """Draw the final surplus by policy in a panel per population. If `shared`, all panels have the same scale."""
    surplus = table.filter(measure="surplus").with_columns(
        row="label", style="group", panel=polars.col("population").replace_strict(titles)
    )
    return dots(surplus, x_label=x_label, same_axis=titles.values() if shared else (), note=note)


def cells(facts: Facts) -> Cells:
    """Return every number in the figures, and the policies' texts."""
    lives = [
        *(_column(ANY_HORIZON, lambda one, of=name: facts.lives(one, of)) for name in TRIAL_TITLES),  # type: ignore[misc]
        _column(ANY_HORIZON, lambda one: facts.lives(one, POOLED, "difference"), "+"),
    ]
    rewards = [
        *(_column(SMALL, lambda one, of=name: facts.rewards(one, of)) for name in READINGS),  # type: ignore[misc]
        [percent(facts.fraction(one)) for one in SMALL],
    ]
    trials = ("aspirin", "heparin", "pooled", "pooled, minus Thompson")
    return {
        "stroke": _policy_cells(ANY_HORIZON, trials, lives),
        "small": _policy_cells(SMALL, (*READING_TITLES.values(), "of the optimum"), rewards),
        "texts": _policy_cells(SMALL, ("text",), [[one.policy for one in SMALL]]),
    }


def _column(entries: Sequence[Entry], value: Callable[[Entry], Estimate], sign: str = "") -> list[str]:
    return estimate_texts([value(one) for one in entries], sign=sign)


def _policy_cells(entries: Sequence[Entry], header: Sequence[str], columns: Sequence[Sequence[str]]) -> Table:
    rows = [(one.label, *its) for one, its in zip(entries, zip(*columns, strict=True), strict=True)]
    return ("policy", *header), rows


STUDY = Study(
    "past-the-paper",
    "Past the paper",
    EXPERIMENTS,
    make_tables,
    section_of(__name__, Facts, charts, cells, SOURCE, {"ODDS": ODDS}),
)
