"""What is explored: the compliance types, the policies, the size of the trials and the seed."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from adhere.checks import check_integer
from adhere.errors import InputError
from adhere.exploration import policies as choices
from adhere.exploration import presets
from adhere.exploration.groups import Group, check_groups
from adhere.randomness import check_seed

MAX_PATIENTS: Final = 10_000
MAX_RUNS: Final = 2_000
MAX_PATIENTS_IN_ALL: Final = 2_000_000  # of one policy: a few tenths of a second
MAX_SEED: Final = 10**15 - 1


class Settings(Struct, frozen=True):
    """Everything that decides what an exploration shows.

    >>> Settings(n_runs=1, n_patients=20).policies[1]
    'thompson/actual'
    """

    groups: tuple[Group, ...] = presets.preset_groups(presets.DEFAULT)
    policies: tuple[str, ...] = choices.DEFAULT
    n_patients: int = 1_000
    n_runs: int = 1_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_groups(self.groups)
        choices.check_policies(self.policies)
        check_integer("patients", self.n_patients, 10, MAX_PATIENTS)
        check_integer("runs", self.n_runs, 1, MAX_RUNS)
        check_integer("seed", check_seed(self.seed), 0, MAX_SEED)
        if self.n_runs * self.n_patients > MAX_PATIENTS_IN_ALL:
            sentence = (
                f"{self.n_runs:,} runs of {self.n_patients:,} patients are too many to show at once: at most"
                f" {MAX_PATIENTS_IN_ALL:,} patients in all (`adhere simulate` takes any number)"
            )
            expected = f"at most {MAX_PATIENTS_IN_ALL // self.n_patients:,} with so many patients"
            raise InputError("runs", self.n_runs, expected, sentence)
