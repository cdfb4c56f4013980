"""Try to predict the arms of ten open trials, with all that any role can get: `python -m benchmarks.concealment`.

Each trial is played with invented patients. Before each recommendation the attacker has the whole log as exported by
a statistician, every probability, and the public keys, and predicts the next arm in several ways. No way may be right
more often than the stated probability of the arms it predicts allows. Then the log is searched for key material.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import math
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend, RecommendationResponse, Report
from adhere.trial.domain.due_looks import choose, stated_probabilities
from adhere.trial.domain.events import Recommended, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.domain.state import TrialState
from adhere.trial.log.log_file import secrets_of
from adhere.trial.policy.engine import engine_of
from adhere.trial.secret.recommendation_ids import LETTERS
from adhere.trial.secret.trial_keys import TrialKeys
from adhere.trial.secret.trial_secret import ArmKeys, kit_key, public_keys
from adhere.trial.writing.processor import CommandProcessor
from adhere.trial.writing.running_state import read_state

ARMS = ("control", "treatment")
TRIALS: Mapping[str, dict[str, Any]] = {
    "thompson": {},
    "thompson, blinded": {"blinded": True},
    "floor(thompson)": {},
    "floor(thompson), blinded": {"blinded": True},
    "mediated-thompson": {},
    "mediated-thompson, three arms": {"arms": (*ARMS, "other")},
    "hierarchical(thompson)": {},
    "hierarchical(thompson), blinded": {"blinded": True},
    "burn-in(floor(thompson), patients=50)": {},
    "burn-in(hierarchical(thompson), patients=50), blinded": {"blinded": True},
}
_LIMIT = 4.0  # standard errors by which a way of predicting may be right too often


class Seen(NamedTuple):
    """A recommendation as the attacker sees it afterwards."""

    event: Recommended
    kit: str


class Guess(NamedTuple):
    """How often a way was right, how often the probabilities say it would be, and the standard error of that."""

    n: int
    hits: int
    expected: float
    se: float

    @property
    def z(self) -> float:
        return (self.hits - self.expected) / self.se if self.se else 0.0


class _WithKeys(TrialKeys):
    """Keys as an attacker guesses them."""

    def __init__(self, public: tuple[int, int], guess: Callable[[int], tuple[int, int]]) -> None:
        super().__init__(seed=0)
        self.public, self._guess = public, guess

    def at(self, commitment: str, index: int) -> tuple[int, int]:
        return self._guess(index)


def _digest_keys(*parts: object) -> tuple[int, int]:
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big")


def _ways(commitment: str) -> dict[str, Callable[[int, list[Seen]], tuple[int, int]]]:
    """Guesses of the keys of the next arm, from what is public."""
    words = [int(commitment[first : first + 16], 16) for first in range(0, 64, 16)]
    as_secret = bytes.fromhex(commitment)
    return {
        "public keys": lambda index, seen: public_keys(commitment),
        "commitment as keys": lambda index, seen: (words[0], words[1]),
        "commitment as the secret": lambda index, seen: ArmKeys(as_secret).at(index),
        "public keys and index": lambda index, seen: _digest_keys(public_keys(commitment), index),
        "last ID": lambda index, seen: _digest_keys(seen[-1].event.recommendation_id) if seen else (0, 0),
        "last kit": lambda index, seen: _digest_keys(seen[-1].kit, index) if seen else (0, 0),
    }


def play(name: str, more: dict[str, Any], n_patients: int, seed: int) -> tuple[dict[str, Guess], int]:
    """Play a trial and predict each arm before it is drawn; returns each way's guesses and hits of key material."""
    policy, draw = name.removesuffix(", blinded").removesuffix(", three arms"), random.Random(seed)
    design = make_design("t", policy, **{"arms": ARMS, "n_patients": n_patients, **more})
    with closing(open_store()) as store:
        processor = CommandProcessor(store)
        processor.create(design)
        live = processor.trial("t")
        commitment = live.engine.keys.commitment
        ways = _ways(commitment)
        engines = {way: engine_of(design, _WithKeys(live.engine.keys.public, lambda index: (0, 0))) for way in ways}
        tallies: dict[str, list[tuple[bool, float]]] = {}
        seen: list[Seen] = []
        for number in range(n_patients):
            with store.reading() as view:
                state = read_state(view, live.number, design, live.engine)
            stated = stated_probabilities(state, None)
            predicted = {"most probable arm": int(np.argmax(stated))}
            if seen:
                predicted["the last arm again"] = seen[-1].event.chosen
                predicted["another than the last"] = (seen[-1].event.chosen + 1) % len(design.arms)
            for way, guess in ways.items():
                keys = guess(number, seen)
                engines[way].keys = _WithKeys(live.engine.keys.public, lambda index, keys=keys: keys)  # type: ignore[misc]
                predicted[way] = _drawn(state, engines[way])
            (answer,) = processor.execute([Recommend(trial="t", request_id=f"r{number}", subject=f"s{number}")])
            assert isinstance(answer, RecommendationResponse)
            with store.reading() as view:
                made = decode(view.histories(live.number, [number])[number][0])
            assert isinstance(made, Recommended)
            seen.append(Seen(made, answer.kit or ""))
            for way, arm in predicted.items():
                tallies.setdefault(way, []).append((arm == made.chosen, made.probabilities[arm]))
            taken = made.chosen if draw.random() < 0.8 else draw.randrange(len(design.arms))
            reward = float(draw.random() < 0.45 + 0.1 * taken)
            report = {"actual": design.arms[taken], "reward": reward}
            if draw.random() < 0.95:
                sent = Report(trial="t", request_id=f"o{number}", recommendation_id=made.recommendation_id, **report)  # type: ignore[arg-type]
                processor.execute([sent])
        with store.reading() as view:
            text = b"\n".join(record.body for record in walk(view, live.number))
            text += b"\n".join(str(one).encode() for one in seen)
            found = sum(text.count(form) for form in _forms(secrets_of(view, live.number), n_patients + 100))
        guesses = {way: _guess(tally) for way, tally in tallies.items()}
        guesses |= _learned(seen)
        return guesses, found


def _drawn(state: TrialState, engine: Any) -> int:
    """The arm that would be drawn by guessed keys."""
    from msgspec.structs import replace

    engine.ensure_loaded()
    return choose(replace(state, engine=engine, looker=None, looks=None), None).chosen


def _guess(tally: list[tuple[bool, float]]) -> Guess:
    expected = math.fsum(p for _, p in tally)
    return Guess(
        len(tally), sum(hit for hit, _ in tally), expected, math.sqrt(math.fsum(p * (1 - p) for _, p in tally))
    )


def _learned(seen: list[Seen]) -> dict[str, Guess]:
    """A regression that learns on the first half whether anything visible tells more of an arm than its probability.

    What is visible: the bits of the ID and of the kit, the second and microsecond, and the last residuals.
    """
    features = np.array([_features(seen, place) for place in range(len(seen))])
    p = np.array([one.event.probabilities[1] for one in seen])
    arm = np.array([one.event.chosen == 1 for one in seen], float)
    half = len(seen) // 2
    residual = arm[:half] - p[:half]
    weights = np.linalg.solve(
        features[:half].T @ features[:half] + 10 * np.eye(features.shape[1]), features[:half].T @ residual
    )
    told = np.where(features[half:] @ weights > 0, 1, 0)  # 1: more likely arm 1 than its probability says
    tally = [(bool(arm[half + t] == one), p[half + t] if one else 1 - p[half + t]) for t, one in enumerate(told)]
    return {"learned from all that is visible": _guess(tally)}


def _features(seen: list[Seen], place: int) -> list[float]:
    one = seen[place]
    letters = (one.event.recommendation_id + one.kit).replace("-", "")
    bits = [float(LETTERS.index(letter) >> bit & 1) - 0.5 for letter in letters for bit in range(5)]
    past = [
        float(before.event.chosen == 1) - before.event.probabilities[1] for before in seen[max(0, place - 5) : place]
    ]
    at = one.event.at
    return [1.0, *bits, at.second / 60 - 0.5, at.microsecond / 1e6 - 0.5, *[0.0] * (5 - len(past)), *past]


def _forms(secrets: list[bytes], n_keys: int) -> Iterator[bytes]:
    """The secret and every key, in each way in which they may be written."""
    for secret in secrets:
        for whole in (secret, kit_key(secret)):
            yield from (whole, whole.hex().encode(), base64.b64encode(whole), base64.b64encode(whole)[:20])
        keys = ArmKeys(secret)
        for index in range(n_keys):
            for key in keys.at(index):
                yield from (
                    str(key).encode(),
                    f"{key:016x}".encode(),
                    key.to_bytes(8, "big"),
                    key.to_bytes(8, "little"),
                )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the patients; secrets are drawn anew each time")
    arguments = parser.parse_args()
    total: dict[str, list[Guess]] = {}
    n_found = 0
    for number, (name, more) in enumerate(TRIALS.items()):
        guesses, found = play(name, more, arguments.patients, arguments.seed + number)
        n_found += found
        best = max(guesses.items(), key=lambda item: item[1].z)
        right = f"{best[1].hits} right of {best[1].n}, {best[1].expected:.1f} allowed by the probabilities"
        print(f"{name}: best way {best[0]!r}, {right} (z = {best[1].z:+.2f}); key material: {found}", flush=True)
        for way, guess in guesses.items():
            total.setdefault(way, []).append(guess)
    print(f"\n{'way':34} {'right':>7} {'of':>7} {'share':>7} {'allowed':>8} {'± 1.96 se':>9} {'z':>6}")
    worst = 0.0
    for way, several in total.items():
        n, hits = sum(one.n for one in several), sum(one.hits for one in several)
        expected, se = math.fsum(one.expected for one in several), math.sqrt(math.fsum(one.se**2 for one in several))
        z = (hits - expected) / se
        worst = max(worst, z)
        print(f"{way:34} {hits:7,} {n:7,} {hits / n:7.3f} {expected / n:8.3f} {1.96 * se / n:9.3f} {z:+6.2f}")
    print(f"\nkey material found: {n_found}")
    return int(n_found > 0 or worst > _LIMIT)


if __name__ == "__main__":
    sys.exit(main())
