"""What decides the numbers of a simulation, beside its policies and populations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """Everything that decides the numbers of a simulation."""

    n_patients: int
    n_runs: int
    seed: int
    grid: tuple[int, ...]
    reference: str
    version: str

    @property
    def size(self) -> str:
        """How many runs of how many patients, in words."""
        runs = "1 run" if self.n_runs == 1 else f"{self.n_runs:,} runs"
        patients = "1 patient" if self.n_patients == 1 else f"{self.n_patients:,} patients"
        return f"{runs} of {patients}, seed {self.seed}"
