"""What the time of an answer tells a site of the arm: two blinded trials that differ in the arm alone."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.monitor.site import Site
from benchmarks.service.measuring import free_port, serving
from benchmarks.service.subjects import adhere_command

from adhere.access.tokens import Tokens
from adhere.design.make_design import make_design
from adhere.policies import import_policies
from adhere.store import open_store
from adhere.trial.writing.processor import CommandProcessor

POLICY = Path(__file__).with_name("always.py")
_TRIALS = ("first", "second")


Taken = dict[str, tuple[list[float], list[float]]]  # milliseconds by kind of request, of the first and of the second


def aucs(folder: Path, n_requests: int) -> tuple[dict[str, float], dict[str, float]]:
    """For each kind of request, how well its latency tells the arms apart, and the trials: 0.5 is not at all.

    Half of the requests go to two trials of which the first gives arm 0, half to two of which it gives arm 1: a
    trial's place in the database takes time of its own, whatever its arm, and everybody knows which trial it is.
    """
    by_arm: Taken = {}
    by_trial: Taken = {}
    for arms in ((0, 1), (1, 0)):
        for kind, both in _latencies(folder / f"blinded-{arms[0]}.db", arms, n_requests // 2).items():
            for number, taken in enumerate(both):
                by_trial.setdefault(kind, ([], []))[number].extend(taken)
                by_arm.setdefault(kind, ([], []))[arms[number]].extend(taken)
    return {kind: auc(*both) for kind, both in by_arm.items()}, {kind: auc(*both) for kind, both in by_trial.items()}


def _latencies(file: Path, arms: tuple[int, int], n_requests: int) -> Taken:
    port = free_port()
    import_policies(POLICY)
    with closing(open_store(file)) as store:
        processor = CommandProcessor(store)
        for name, arm in zip(_TRIALS, arms, strict=True):
            design = make_design(name, f"always(second={arm})", ("placebo", "verum"), blinded=True)
            processor.create(design, secret=bytes([arm]) * 32)
        token = Tokens(store).make("site", "bench", site="bench")[1]
    taken: Taken = {}
    with serving([*adhere_command(file, port), "--import", str(POLICY)], port):
        site = Site(port, token)
        for _ in range(50):
            _ask(site, _TRIALS[0])
            _ask(site, _TRIALS[1])
        for pair in range(n_requests // 2):
            for number in (0, 1) if pair % 2 else (1, 0):
                for kind, milliseconds in _ask(site, _TRIALS[number]).items():
                    taken.setdefault(kind, ([], []))[number].append(milliseconds)
    return taken


def _ask(site: Site, trial: str) -> dict[str, float]:
    """A patient: recommended a kit, looked at, reported."""
    recommended, given = site.recommend(trial)
    path = f"/trials/{trial}/recommendations/{given['recommendation_id']}"
    shown, _ = site.send("GET", path)
    body: dict[str, Any] = {"actual": given["kit"], "reward": 1}
    reported, _ = site.send("POST", f"{path}/reports", body)
    return {"recommend": recommended, "show": shown, "report": reported}


def auc(first: list[float], second: list[float]) -> float:
    """The probability that an answer of the second kind takes longer than one of the first.

    >>> auc([1.0, 2.0], [3.0, 4.0]), auc([1.0, 2.0], [1.0, 2.0])
    (1.0, 0.5)
    """
    order = np.sort(np.array(first))
    below = np.searchsorted(order, second, side="left")
    up_to = np.searchsorted(order, second, side="right")
    return float(np.mean(below + up_to) / (2 * len(first)))
