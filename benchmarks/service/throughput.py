"""Pairs a second and latency beside a bare log, on SQLite: one server process each, the same clients, in turn."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu.measuring import Narrator, Rounds, Subject, alternate
from benchmarks.service.load import Generator, Latency
from benchmarks.service.subjects import (
    ADHERE,
    BOUNDED,
    SKELETON,
    THOMPSON,
    Driven,
    RecordBytes,
    drive_skeleton,
    prepare,
    record_bytes,
    serving_adhere,
    serving_skeleton,
)

_WARM_UP = 2.0  # seconds


@dataclass(frozen=True)
class Throughput:
    """What was found; `latency` has every run of each, the two in turn at the same rate."""

    rounds: Rounds
    bytes_a_pair: dict[str, float]  # body, hash and request id of both records, by policy
    cpu_ms: dict[str, list[float]]  # of the server, a pair, by round
    half: float  # pairs a second at which latency was measured
    latency: dict[str, list[Latency]]


@dataclass(frozen=True)
class Effort:
    """How much to measure."""

    n_rounds: int
    seconds: float
    latency_runs: int
    latency_seconds: float


def measure(folder: Path, generator: Generator, effort: Effort, narrator: Narrator) -> Throughput:
    """Everyone keeps the same database and the same process over all rounds."""
    with ExitStack() as stack:
        ours: dict[str, Driven] = {}
        sizes: dict[str, RecordBytes] = {}
        for number, policy in enumerate((THOMPSON, BOUNDED)):
            file = folder / f"adhere-{number}.db"
            token = prepare(file, {"trial": policy})
            ours[policy] = Driven(generator, stack.enter_context(serving_adhere(file)), token)
            ours[policy].load(["trial"], seconds=_WARM_UP)
            sizes[policy] = record_bytes(file, "trial")
        bare = drive_skeleton(generator, stack.enter_context(serving_skeleton(folder / "bare.db", sizes[THOMPSON])))
        bare.load(["trial"], seconds=_WARM_UP)
        drivens = {(ADHERE, THOMPSON): ours[THOMPSON], (SKELETON, ""): bare, (ADHERE, BOUNDED): ours[BOUNDED]}
        for driven in drivens.values():
            driven.cpu_ms.clear()
        rounds = alternate([_subject(key, one, effort) for key, one in drivens.items()], effort.n_rounds, narrator)
        cpu_ms = {name: list(one.cpu_ms) for (_, name), one in drivens.items()}
        half = 0.5e9 / rounds.cost((ADHERE, THOMPSON)).median
        narrator.note(f"latency at {half:,.0f} pairs a second")
        latency: dict[str, list[Latency]] = {ADHERE: [], SKELETON: []}
        for _ in range(effort.latency_runs):
            for name, driven in ((ADHERE, ours[THOMPSON]), (SKELETON, bare)):
                found = driven.load(["trial"], seconds=effort.latency_seconds, rate=half).overall
                assert found is not None
                latency[name].append(found)
    return Throughput(rounds, {policy: size.pair for policy, size in sizes.items()}, cpu_ms, half, latency)


def _subject(key: tuple[str, str], driven: Driven, effort: Effort) -> Subject:
    return Subject(*key, lambda: driven.timed(["trial"], effort.seconds))
