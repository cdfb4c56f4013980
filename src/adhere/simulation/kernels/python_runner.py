"""Runner of policies that are plain Python objects."""

import copy
import inspect
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adhere.checks import is_integer
from adhere.compilation.policy_failures import policy_error
from adhere.compilation.user_code import traceback_place
from adhere.errors import InputError
from adhere.policies import Policy
from adhere.populations import PatientTables, Population
from adhere.randomness import PYTHON, stream_keys, uniforms
from adhere.simulation.execution.plan import Integers
from adhere.simulation.execution.task_runner import Runner
from adhere.simulation.measures.measure import Tallies, n_last


class PlainPolicy(Protocol):
    """A plain Python object that can be simulated: `choose` returns the index of an arm, `update` learns from a
    patient.

    `choose` is called with a NumPy generator, or with nothing. `update` is called with the arm chosen, the arm taken
    and the reward.
    """

    @property
    def choose(self) -> Callable[..., Any]:
        """Pick an arm."""

    @property
    def update(self) -> Callable[[int, int, float], Any]:
        """Learn from a patient."""


def name_of(policy: object) -> str:
    """Return the name of a policy in results, whether it is compiled or a plain object."""
    return str(policy) if isinstance(policy, Policy) else str(getattr(policy, "name", type(policy).__name__))


class PythonRunner(Runner):
    """Runner of a plain object with `choose` and `update`, which is copied for each run.

    `choose()` or `choose(rng)` returns the index of an arm; `update(chosen, actual, reward)` learns. `rng` is the
    run's own NumPy generator.
    """

    def __init__(self, policy: object, population: Population, n_patients: int, grid: Integers) -> None:
        self.population, self._n_patients, self._grid = population, n_patients, grid
        for method in ("choose", "update"):
            if not callable(getattr(policy, method, None)):
                expected = "a policy, its text, or an object with the methods choose and update"
                raise InputError("policy", policy, expected)
        self.given, self.resolved = policy, name_of(policy)
        self.components = (self.resolved,)
        self._takes_rng = len(inspect.signature(policy.choose).parameters) > 0  # type: ignore[attr-defined]

    def start(
        self, seed: int, runs: range, tables: PatientTables, done: Integers, stop: Integers
    ) -> Callable[[], Tallies]:
        """Play every run, patient by patient, with the same patients as for every other policy."""
        tallies = Tallies.zeros(len(runs), len(self._grid), self.population.n_arms, 1)
        for row, run in enumerate(runs):
            patients = self.population.patients(seed, run, self._n_patients)
            own = copy.deepcopy(self.given)
            first = uniforms(stream_keys(seed, run, 1), np.zeros(1, np.int64), PYTHON)[0, 0]
            rng = np.random.default_rng(int(first * 2**53))
            arguments = (rng,) if self._takes_rng else ()
            chosen = np.empty(self._n_patients, np.int64)
            for t in range(self._n_patients):
                if stop[0]:
                    return lambda: tallies
                arm = self._asked(own.choose, arguments, t, run)  # type: ignore[attr-defined]
                if not is_integer(arm) or not 0 <= arm < self.population.n_arms:
                    expected = f"a whole number from 0 to {self.population.n_arms - 1}"
                    raise InputError(f"arm chosen by {self.resolved}", arm, expected)
                chosen[t] = arm = int(arm)
                actual, reward = int(patients.actual[t, arm]), float(patients.reward[t, arm])
                self._asked(own.update, (arm, actual, reward), t, run)  # type: ignore[attr-defined]
                done[0] += 1
            self._tally(row, chosen, patients.reward, tallies)
        return lambda: tallies

    def _asked(self, method: Callable[..., Any], arguments: tuple[Any, ...], t: int, run: int) -> Any:
        """Call a method of the policy. An exception reports the policy, the line of code and the patient."""
        try:
            return method(*arguments)
        except (MemoryError, OSError, InputError):
            raise
        except Exception as error:
            when = f" (patient {t + 1} of run {run + 1} on {self.population.name})"
            n_arms = self.population.n_arms
            raise policy_error(
                self.resolved, traceback_place(error.__traceback__), error, None, n_arms, when
            ) from error

    def _tally(self, row: int, chosen: Integers, rewards: NDArray[np.float64], tallies: Tallies) -> None:
        pulled = chosen[:, None] == np.arange(self.population.n_arms)
        upto = self._grid - 1
        tallies.pulls[row] = pulled.cumsum(axis=0)[upto]
        tallies.rewards[row] = rewards[pulled].cumsum()[upto]
        tallies.baselines[row] = rewards.mean(axis=1).cumsum()[upto]
        tallies.decisions[row] = self._n_patients
        tallies.last_pulls[row] = pulled[self._n_patients - n_last(self._n_patients) :].sum(axis=0)
