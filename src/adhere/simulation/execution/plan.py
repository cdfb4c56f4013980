"""Plan of many trials: blocks and tasks, cut by the plan's own size alone, never by who runs them."""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from itertools import islice
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adhere.errors import InputError
from adhere.memory import available_memory, bytes_text
from adhere.policies import Policy, as_policy

Integers = NDArray[np.int64]
MAX_BLOCK_SIZE, MIN_BLOCK_SIZE = 4096, 16
_LOADABLE = "policies that workers can load: of a file that leans on nothing beside it, or of modules they have too"


class Block(NamedTuple):
    """Consecutive runs in some scenarios, by their indices, of every policy or design."""

    scenarios: range
    runs: range


Task: TypeAlias = list[Block]  # consecutive blocks, run together


class Plan(ABC):
    """Everything that decides the numbers of many trials: policies or designs in populations or scenarios."""

    n_runs: int
    seed: int
    device: str
    max_blocks: ClassVar[int]  # whose moments are kept apart; more are merged

    @property
    @abstractmethod
    def n_scenarios(self) -> int:
        """The number of populations or scenarios."""

    @property
    def scenarios_per_block(self) -> int:
        """The number of scenarios that are measured together."""
        return 1

    @property
    @abstractmethod
    def patients_per_run(self) -> int:
        """How many patients one run in one scenario has at most, in all policies or designs together."""

    @property
    @abstractmethod
    def block_size(self) -> int:
        """The number of runs of every block except the last."""

    @property
    @abstractmethod
    def blocks_per_task(self) -> int:
        """How many blocks are worth sending together to a worker elsewhere."""

    @property
    def total_patients(self) -> int:
        """How many patients are simulated if no trial stops early."""
        return self.n_runs * self.n_scenarios * self.patients_per_run

    def patients_in(self, task: Task) -> int:
        """How many of them a task simulates."""
        return sum(len(block.scenarios) * len(block.runs) for block in task) * self.patients_per_run

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return self.n_scenarios // self.scenarios_per_block * -(-self.n_runs // self.block_size)

    def blocks(self) -> Iterator[Block]:
        """Every block, in the order in which results are merged."""
        together = self.scenarios_per_block
        for index in range(0, self.n_scenarios, together):
            for first in range(0, self.n_runs, self.block_size):
                yield Block(range(index, index + together), range(first, min(first + self.block_size, self.n_runs)))

    def tasks(self, blocks_per_task: int) -> Iterator[Task]:
        """All blocks in their order, so many at a time."""
        blocks = self.blocks()
        while task := list(islice(blocks, blocks_per_task)):
            yield task

    def __reduce__(self) -> tuple[Any, ...]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # its classes are dataclasses
        return _unpickled, (type(self), {name: _packed(name, getattr(self, name)) for name in names})


def _unpickled(plan: type[Plan], fields: dict[str, Any]) -> Plan:
    """The plan that was pickled, on a worker."""
    return plan(**{field: _unpacked(value) for field, value in fields.items()})


def _packed(field: str, value: Any) -> Any:
    """A field of a plan; members of tuples are users' objects: policies as plain data, others pickled one by one."""
    if not isinstance(value, tuple):
        return value
    return tuple(one.to_json() if isinstance(one, Policy) else _pickled(field, one) for one in value)


def _pickled(field: str, value: object) -> bytes:
    """The bytes of a user's object; the error about an object that cannot be pickled has its name."""
    try:
        import cloudpickle as pickler  # type: ignore[import-untyped]  # sends what a notebook defines, too
    except ImportError:
        pickler = pickle
    try:
        return bytes(pickler.dumps(value))
    except Exception as error:  # pickling fails in many ways
        expected = f"one that can be pickled, to be sent to the executor's workers ({error})"
        raise InputError(field, str(getattr(value, "name", type(value).__name__)), expected) from None


def _unpacked(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    with explain_unloadable():
        return tuple(as_policy(one) if isinstance(one, dict) else pickle.loads(one) for one in value)


@contextmanager
def explain_unloadable() -> Iterator[None]:
    """Say what policies must be if a worker cannot load them."""
    try:
        yield
    except (ImportError, AttributeError) as error:
        raise InputError("policies", str(error), _LOADABLE) from None
    except InputError as error:
        if error.field == "executor":
            raise
        raise InputError("policies", f"a file: {error.expected}", _LOADABLE) from None


def memory_note(option: str, n_runs: int, needed: int) -> str:
    """Say how much memory it takes to keep every run; more than there is, is refused.

    `option` is `keep_runs` or `keep_trials`.
    """
    runs, available = option.removeprefix("keep_"), available_memory()
    if available is not None and needed > available:
        sentence = (
            f"{option}: {n_runs:,} {runs} take {bytes_text(needed)} of memory, and {bytes_text(available)} are"
            f" available: keep fewer {runs}, or none"
        )
        raise InputError(option, True, f"fewer {runs}", sentence)
    return f"keeping every {runs.removesuffix('s')} takes {bytes_text(needed)} of memory"
