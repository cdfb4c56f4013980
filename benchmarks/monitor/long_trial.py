"""A trial with many patients, written by the command processor in this process."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

from adhere.access.tokens import Tokens
from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend, Report
from adhere.trial.writing.processor import CommandProcessor

TRIAL, ARMS = "long", ("walk", "aspirin")
_AT_ONCE = 500


def make_long_trial(file: Path, n_patients: int) -> dict[str, str]:
    """Make the trial; returns a token of each role by its name."""
    rng = random.Random(1)
    with closing(open_store(file)) as store:
        processor = CommandProcessor(store)
        processor.create(make_design(TRIAL, "floor(thompson, share=0.2)", ARMS))
        for first in range(0, n_patients, _AT_ONCE):
            _play(processor, range(first, min(first + _AT_ONCE, n_patients)), rng)
        tokens = Tokens(store)
        return {
            "site": tokens.make("site", "bench", site="bench")[1],
            "statistician": tokens.make("statistician", "bench")[1],
        }


def _play(processor: CommandProcessor, numbers: range, rng: random.Random) -> None:
    """Four in five take what they are told, and three in a hundred are not reported."""
    made = processor.execute(
        [Recommend(trial=TRIAL, request_id=f"r{n}", by="bench", subject=f"S-{n}", site=f"{n % 20}") for n in numbers]
    )
    reports = []
    for given in made:
        if rng.random() < 0.97:
            actual = given.arm if rng.random() < 0.8 else ARMS[given.arm == ARMS[0]]
            reward = float(rng.random() < (0.5 if actual == ARMS[1] else 0.45))
            number = given.recommendation_id
            reports.append(
                Report(
                    trial=TRIAL,
                    request_id=f"p{number}",
                    by="bench",
                    recommendation_id=number,
                    actual=actual,
                    reward=reward,
                )
            )
    processor.execute(reports)
