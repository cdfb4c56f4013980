"""Runner of compiled policies."""

from typing import Any

from adhere.compilation.static import MAX_STATIC, MAX_STATIC_ARMS
from adhere.errors import InputError
from adhere.policies import Policy
from adhere.policies.base.policy import TrialShape
from adhere.populations import PatientTables, Population
from adhere.simulation.execution.plan import Integers
from adhere.simulation.kernels.base_runner import BaseRunner, Make
from adhere.simulation.kernels.patient_loop import RUN_BLOCK, Sizes, Workspace, run_block
from adhere.simulation.kernels.patients import Arms, Batch, BatchOfManyArms, OneByOne, Patients
from adhere.simulation.measures.measure import Tallies, n_last


class CompiledRunner(BaseRunner[Tallies]):
    """Runner of a policy's compiled form, on processors or on a GPU."""

    function, loop, announcement = run_block, RUN_BLOCK, "compiling"
    gpu_loop = "adhere.simulation.kernels.gpu_entry:RUN_ON_GPU"

    def __init__(
        self, policy: Policy, population: Population, n_patients: int, grid: Integers, device: str = "cpu"
    ) -> None:
        shape = TrialShape(population.n_arms, population.reward_values, population.arms)
        super().__init__(policy, shape, population, n_patients, device)
        self._grid, self.components = grid, self.policy.components
        self._patients = Patients.of(population.tables(0, 0, 1))
        n_draws, n_cells = self._patients.bounds.shape[1:]
        self._one_by_one = OneByOne(n_draws, n_cells)
        self._sizes = Sizes(
            self.state.size,
            self.policy.memo_size + self.policy.scratch_size,
            len(self.components),
            n_draws * n_cells if self._is_on_gpu else 0,
            Arms(population.n_arms),
        )
        largest = max(*self._sizes[:-1], *self._sizes.arms)
        if self._is_on_gpu and largest > MAX_STATIC:
            expected = f"at most {MAX_STATIC} numbers of state, memo and cells of the population on a GPU"
            raise InputError("device", f"cuda for {self.resolved} ({largest:,} numbers)", expected)

    def fixed_arguments(self, keys: Any, tables: PatientTables) -> tuple[Any, ...]:
        """Return the loop's arguments up to the tallies."""
        patients, last = Patients.of(tables), n_last(self.n_patients)
        return self.rule, self._sizes, self.state, keys, patients, self.n_patients, self._grid, last

    def workspace(self, n_lanes: int, make: Make) -> tuple[Workspace]:
        """Return the workspace of one thread. The threads of a GPU keep theirs in registers."""
        if self._is_on_gpu:
            return (Workspace.of(self._one_by_one, self._sizes),)
        batch = BatchOfManyArms if self.population.n_arms > MAX_STATIC_ARMS else Batch
        return (Workspace.of(batch.of(self.population.n_arms, self._patients.bounds), self._sizes),)

    def blank(self, n_runs: int) -> Tallies:
        """Return empty tallies to be filled in."""
        return Tallies.zeros(n_runs, len(self._grid), self.population.n_arms, len(self.components))
