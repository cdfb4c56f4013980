"""Plan of many trials. Its blocks depend only on the plan, not on the number of workers."""

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
    """Consecutive runs of every policy or design in some scenarios, which are given by index."""

    scenarios: range
    runs: range


Task: TypeAlias = list[Block]  # consecutive blocks, run together


class Plan(ABC):
    """Everything that decides the numbers of many trials: policies or designs, in populations or scenarios."""

    n_runs: int
    seed: int
    device: str
    max_blocks: ClassVar[int]  # the number of blocks whose moments are stored separately; more are merged

    @property
    @abstractmethod
    def n_scenarios(self) -> int:
        """Number of populations or scenarios."""

    @property
    def scenarios_per_block(self) -> int:
        """Number of scenarios that are measured together."""
        return 1

    @property
    @abstractmethod
    def patients_per_run(self) -> int:
        """The largest number of patients of one run in one scenario, in all policies or designs together."""

    @property
    @abstractmethod
    def block_size(self) -> int:
        """Number of runs of every block except the last."""

    @property
    @abstractmethod
    def blocks_per_task(self) -> int:
        """Number of blocks that are sent together to a worker outside this process."""

    @property
    def total_patients(self) -> int:
        """Number of patients that are simulated if no trial stops early."""
        return self.n_runs * self.n_scenarios * self.patients_per_run

    def patients_in(self, task: Task) -> int:
        """Return the number of patients that a task simulates."""
        return sum(len(block.scenarios) * len(block.runs) for block in task) * self.patients_per_run

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.n_scenarios // self.scenarios_per_block * -(-self.n_runs // self.block_size)

    def blocks(self) -> Iterator[Block]:
        """Yield every block, in the order in which results are merged."""
        together = self.scenarios_per_block
        for index in range(0, self.n_scenarios, together):
            for first in range(0, self.n_runs, self.block_size):
                yield Block(range(index, index + together), range(first, min(first + self.block_size, self.n_runs)))

    def tasks(self, blocks_per_task: int) -> Iterator[Task]:
        """Yield all blocks in their order, `blocks_per_task` at a time."""
        blocks = self.blocks()
        while task := list(islice(blocks, blocks_per_task)):
            yield task

    def __reduce__(self) -> tuple[Any, ...]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # subclasses are dataclasses
        return _unpickled, (type(self), {name: _packed(name, getattr(self, name)) for name in names})


def _unpickled(plan: type[Plan], fields: dict[str, Any]) -> Plan:
    """Restore a pickled plan, on a worker."""
    return plan(**{field: _unpacked(value) for field, value in fields.items()})


def _packed(field: str, value: Any) -> Any:
    """Pack a field of a plan. Members of tuples are users' objects: policies become plain data, others are
    pickled.
    """
    if not isinstance(value, tuple):
        return value
    return tuple(one.to_json() if isinstance(one, Policy) else _pickled(field, one) for one in value)


def _pickled(field: str, value: object) -> bytes:
    """Pickle a user's object; an error about an object that cannot be pickled contains its name."""
    try:
        import cloudpickle as pickler  # type: ignore[import-untyped]  # also for objects of a notebook
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
    """Explain which policies a worker can load if it fails to load one."""
    try:
        yield
    except (ImportError, AttributeError) as error:
        raise InputError("policies", str(error), _LOADABLE) from None
    except InputError as error:
        if error.field == "executor":
            raise
        raise InputError("policies", f"a file: {error.expected}", _LOADABLE) from None


def memory_note(option: str, n_runs: int, needed: int) -> str:
    """Return a note on the memory that storing every run takes, or refuse if there is too little memory.

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
