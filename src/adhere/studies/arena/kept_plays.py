"""What was played already, on disk: a file for each policy and cell, so that nothing finished is played again."""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from dataclasses import asdict
from pathlib import Path

import numpy as np

from adhere.compilation.sources import fingerprint
from adhere.files import write_file
from adhere.policies import Policy
from adhere.studies.arena.cells import Cell
from adhere.studies.arena.families import Family
from adhere.studies.arena.play import Played

FOLDER = "played"
_CHECKSUM = 4  # bytes behind a file, which its own checksums do not cover


def comes_with_adhere(policy: Policy) -> bool:
    """Whether no part of a policy is a user's own."""
    return all(type(part).__module__.startswith("adhere.") for part in policy.parts())


class KeptPlays:
    """The plays of one seed on one device in a folder."""

    def __init__(self, out: Path, seed: int, device: str) -> None:
        self._folder, self._key = out / FOLDER, [fingerprint(frozenset(), Played.__module__), seed, device]

    def load(self, policy: Policy, cell: Cell) -> Played | None:
        """How a policy played a cell, if it did so with the same code, seed and device, and the file is whole."""
        path = self._path(policy, cell)
        if path is None:
            return None
        try:
            content = path.read_bytes()
            if zlib.crc32(content[:-_CHECKSUM]) != int.from_bytes(content[-_CHECKSUM:], "little"):
                return None
            with np.load(io.BytesIO(content[:-_CHECKSUM]), allow_pickle=False) as held:
                return Played(
                    held["shares"], held["spread"], int(held["n_runs"]), held["grid"],
                    float(held["seconds"]), float(held["compile_seconds"]), int(held["n_threads"]),
                )  # fmt: skip
        except Exception:  # whatever is wrong with a file, it costs a play and not a run
            return None

    def save(self, policy: Policy, cell: Cell, played: Played) -> None:
        """Keep a play of a policy that comes with adhere: others may lean on files that nobody watches."""
        path = self._path(policy, cell)
        if path is not None:
            content = io.BytesIO()
            np.savez_compressed(content, **vars(played))
            held = content.getvalue()
            write_file(path, held + zlib.crc32(held).to_bytes(_CHECKSUM, "little"))

    def _path(self, policy: Policy, cell: Cell) -> Path | None:
        if not comes_with_adhere(policy):
            return None
        population = cell.population
        people = population.digest if isinstance(population, Family) else population.name
        key = [*self._key, str(policy), people, asdict(cell)]
        name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
        return self._folder / f"{cell.family}-{cell.n_patients}-{name}.npz"
