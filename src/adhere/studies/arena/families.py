"""The families of populations that every policy meets. They are drawn once from published seeds, the same for
everybody.

>>> from adhere import simulate
>>> result = simulate("thompson", family("confounded"), n_patients=100, n_runs=200)  # run r: population r mod 200
>>> result[0].surplus.mean > 0
True
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from adhere.checks import check_integer
from adhere.errors import InputError, nearest
from adhere.populations.population import Floats, PatientTables, Population
from adhere.randomness import check_seed
from adhere.studies.arena import recipes
from adhere.studies.arena.recipes import Draws, People, Recipe

ARENA_SEED = 14  # of the published populations
N_POPULATIONS = 200
MIN_BEST_SURPLUS = 0.01  # per patient; populations in which no policy could gain as much are drawn again
_MAX_ATTEMPTS = 1000


class FamilyKind(NamedTuple):
    """A distribution from which populations are drawn."""

    recipe: Recipe
    n_arms: int
    description: str
    drawn: str
    n_populations: int = N_POPULATIONS
    min_best_surplus: float = MIN_BEST_SURPLUS


_SHARES = "compliers U(0, 1), the rest always take one arm, their shares Dirichlet(1)"
_APART = "in each of these compliance types rewards U(0, 1) by arm"
_UNCONFOUNDED = FamilyKind(
    recipes.unconfounded, 2, "Reward depends on the arm taken alone", f"{_SHARES}; rewards U(0, 1) by arm, for all"
)
_CONFOUNDED = FamilyKind(
    recipes.confounded, 2, "Prognosis and effect differ by behaviour, independently", f"{_SHARES}; {_APART}"
)

FAMILIES: dict[str, FamilyKind] = {
    "unconfounded": _UNCONFOUNDED,
    "confounded": _CONFOUNDED,
    "mildly-confounded": FamilyKind(
        recipes.mildly_confounded,
        2,
        "A common effect of each arm; prognosis differs by behaviour",
        f"{_SHARES}; rewards: prognosis U(0.2, 0.8) by compliance type plus effect U(-0.2, 0.2) by arm",
    ),
    "corrective": FamilyKind(
        recipes.corrective,
        2,
        "Whoever always takes an arm gains most by it",
        f"{_SHARES}; {_APART}, of those who always take an arm the largest for that arm",
    ),
    "weak-compliance": FamilyKind(
        partial(recipes.confounded, comply=recipes.WEAK),
        2,
        "10 to 30% do as told, the rest take what they like",
        f"{_SHARES}; {_APART}".replace("U(0, 1)", "U(0.1, 0.3)", 1),
    ),
    "strong-compliance": FamilyKind(
        partial(recipes.confounded, comply=recipes.STRONG),
        2,
        "80 to 95% do as told, the rest take what they like",
        f"{_SHARES}; {_APART}".replace("U(0, 1)", "U(0.8, 0.95)", 1),
    ),
    "defiers-present": FamilyKind(
        partial(recipes.confounded, defy=recipes.DEFYING),
        2,
        "10 to 50% do the opposite",
        f"defiers U(0.1, 0.5); of the others {_SHARES}; {_APART}",
    ),
    "unconfounded-3": _UNCONFOUNDED._replace(n_arms=3),
    "confounded-3": _CONFOUNDED._replace(n_arms=3),
    "unconfounded-5": _UNCONFOUNDED._replace(n_arms=5),
    "confounded-5": _CONFOUNDED._replace(n_arms=5),
    "uniform-other": FamilyKind(
        recipes.uniform_other,
        2,
        "The prior of bayes-optimal: a non-complier takes the other arm",
        "rewards U(0, 1) by arm, compliance U(0, 1) by recommended arm; none drawn again",
        n_populations=10_000,
        min_best_surplus=0.0,
    ),
}


@dataclass(frozen=True, repr=False)
class Family(Population):
    """Many populations from one distribution. Run r plays population r mod `n_populations`.

    The populations depend only on the family's name and its own seed, not on the seed of the simulation.
    `compliance`, `reward_mass` and the means computed from them are averages over the populations.
    """

    kind: str
    n_populations: int
    seed: int

    @property
    def reward_values(self) -> tuple[float, ...]:
        """The possible rewards, 0 and 1."""
        return (0.0, 1.0)

    @cached_property
    def people(self) -> People:
        """The populations of the family."""
        return _draw(self.kind, self.seed, self.n_populations)

    @cached_property
    def _tables(self) -> PatientTables:
        return self.people.tables()

    def tables(self, seed: int, first_run: int, n_runs: int) -> PatientTables:
        """Return the tables that the patients of each run are drawn from, one row per run."""
        every, rows = self._tables, np.arange(first_run, first_run + n_runs) % self.n_populations
        return PatientTables(every.cumulative[rows], every.actual, every.reward, every.means[rows])

    def compliance(self) -> Floats:
        """Return P(actual a | chosen c) as [chosen, actual], averaged over the populations."""
        averaged: Floats = self.people.cells().sum(axis=3).mean(axis=0)
        return averaged

    def reward_mass(self) -> Floats:
        """Return E[R · 1(actual a) | chosen c] as [chosen, actual], averaged over the populations."""
        averaged: Floats = self.people.cells()[..., 1].mean(axis=0)
        return averaged

    @cached_property
    def digest(self) -> str:
        """A digest of twelve letters that identifies the populations, to nine decimal places."""
        return hashlib.sha256((self.people.cells() * 1e9).round().astype("<i8").tobytes()).hexdigest()[:12]


def family(name: str, *, seed: int = ARENA_SEED, n_populations: int | None = None) -> Family:
    """Return a family by its name. Another seed gives other populations from the same distribution.

    >>> family("confounded").digest == family("confounded", seed=1).digest
    False
    """
    if name not in FAMILIES:
        raise InputError("family", name, nearest(str(name), FAMILIES))
    kind = FAMILIES[name]
    n = kind.n_populations if n_populations is None else check_integer("n_populations", n_populations, 1, 10**6)
    arms = tuple(f"arm {arm}" for arm in range(kind.n_arms))
    return Family(name, arms, name, n, check_seed(seed))


def _draw(name: str, seed: int, n_populations: int) -> People:
    """Draw the populations of a seed. Each is redrawn until its arms differ enough."""
    kind, missing = FAMILIES[name], np.arange(n_populations)
    found: People | None = None
    for attempt in range(_MAX_ATTEMPTS):
        drawn = kind.recipe(Draws(name, seed, missing, attempt), kind.n_arms)
        if found is None:
            found = drawn
        for whole, part in zip(vars(found).values(), vars(drawn).values(), strict=True):
            whole[missing] = part
        missing = missing[drawn.best_surplus() < kind.min_best_surplus]
        if not len(missing):
            return found
    raise AssertionError(f"{name}: no population of seed {seed} in which the arms differ enough")
