"""How long a correction and a replay take in a long trial: python -m benchmarks.service.corrections [--pairs N].

Builds a trial of `thompson/actual` in a SQLite file, corrects one of its first, a middle and one of its last reports,
and replays it. A million records (500,000 pairs) take about two minutes in all.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from contextlib import closing
from pathlib import Path

from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.commands import Correct, Receipt, Recommend, RecommendationResponse, Report
from adhere.trial.log.replay import replay
from adhere.trial.writing.processor import CommandProcessor

_BATCH = 250
_ARMS = ("walk", "aspirin")


def main() -> None:
    """Build, correct, replay; print seconds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service.corrections")
    parser.add_argument("--pairs", type=int, default=500_000, help="recommendations, each with a report")
    n_pairs: int = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as folder, closing(open_store(Path(folder) / "trials.db")) as store:
        processor = CommandProcessor(store)
        processor.create(make_design("trial", "thompson/actual", _ARMS))
        ids = build(processor, n_pairs)
        for number in (1, n_pairs // 2, n_pairs - 1):
            command = Correct(
                trial="trial", request_id=f"c{number}", recommendation_id=ids[number], reward=0.5, reason="a slip"
            )
            begin = time.perf_counter()
            (answer,) = processor.execute([command])
            assert isinstance(answer, Receipt), answer
            print(f"correcting report {number + 1:,} of {n_pairs:,}: {time.perf_counter() - begin:.3f} s")
        with store.reading() as view:
            begin = time.perf_counter()
            result = replay(view, view.trials()["trial"])
            print(f"replaying {result.n_records:,} records: {time.perf_counter() - begin:.1f} s")
            assert result.difference is None, result.difference


def build(processor: CommandProcessor, n_pairs: int) -> list[str]:
    """Recommendations and their reports, in batches as under load; returns the IDs in order."""
    rng, ids = random.Random(1), list[str]()
    for first in range(0, n_pairs, _BATCH):
        numbers = range(first, min(first + _BATCH, n_pairs))
        made = processor.execute([Recommend(trial="trial", request_id=f"q{n}", subject=f"s{n}") for n in numbers])
        ids += [one.recommendation_id for one in made if isinstance(one, RecommendationResponse)]
        told = processor.execute(
            [
                Report(
                    trial="trial",
                    request_id=f"r{n}",
                    recommendation_id=ids[n],
                    actual=rng.choice(_ARMS),
                    reward=float(rng.random() < 0.5),
                )
                for n in numbers
            ]
        )
        assert all(isinstance(one, Receipt) for one in told)
    return ids


if __name__ == "__main__":
    main()
