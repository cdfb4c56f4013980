"""The Python API refuses what it cannot use: an `InputError` in one sentence, and nothing written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adhere
from adhere import InputError, Trial
from adhere.policies.base.registry import registry

ARMS = ["walk", "aspirin"]
NO_COUNTS: list[Any] = [0, -1, 1.5, "10", math.nan, math.inf, None, True, 2**60, [10], 1j]
NO_POLICIES: list[Any] = [
    None,
    3,
    "",
    " ",
    "thompson(",
    "tompson",
    object(),
    {},
    {"name": 3},
    {"name": "thompson", "x": 1},
    b"x",
]
NO_POPULATIONS: list[Any] = [
    None,
    3,
    "",
    "nowhere",
    "nowhere.csv",
    object(),
    {"a": 1},
    Path("nowhere.toml"),
    b"defiers",
]
NO_UNIT_NUMBERS: list[Any] = [math.nan, -0.1, 1.1, "1", None, [1], 1j, math.inf]


def calling(function: Callable[..., Any], **arguments: Any) -> Callable[[Path], Any]:
    return lambda folder: function(**arguments)


def simulating(**changed: Any) -> Callable[[Path], Any]:
    given = {"policies": "thompson", "populations": "defiers", "n_patients": 10, "n_runs": 2}
    return calling(adhere.simulate, **(given | changed))


def on_trial(**changed: Any) -> Callable[[Path], Any]:
    return calling(Trial, **({"policy": "thompson", "arms": ARMS} | changed))


def reporting(**told: Any) -> Callable[[Path], Any]:
    def report(folder: Path) -> None:
        trial = Trial("thompson", ARMS)
        number = trial.recommend().id
        trial.report(told.pop("id", number), **told)

    return report


def cases() -> Iterator[tuple[str, Callable[[Path], Any]]]:
    yield from (("n_patients", simulating(n_patients=value)) for value in NO_COUNTS)
    yield from (("n_runs", simulating(n_runs=value)) for value in NO_COUNTS)
    yield from (("seed", simulating(seed=value)) for value in (-1, 2**64, 1.5, "1", None, True, math.nan))
    yield from (("n_threads", simulating(n_threads=value)) for value in (0, -1, 1.5, "2", True, 10**9))
    yield "policies", simulating(policies=[])
    yield "policies", simulating(policies=["thompson", "thompson"])
    yield from (("", simulating(policies=value)) for value in NO_POLICIES)
    yield from (("", simulating(policies=["thompson", value])) for value in NO_POLICIES[:3])
    yield from (("", simulating(populations=value)) for value in NO_POPULATIONS)
    yield "populations", simulating(populations=[])
    yield "populations", simulating(populations=["defiers", "defiers"])
    yield from (("reference", simulating(reference=value)) for value in ("ucb1", 3, object()))
    yield from (("grid", simulating(grid=value)) for value in (0, -1, "5", [0], [11], [1.5], [math.nan], ["a"]))
    yield "pooled", simulating(pooled=True)
    yield from (("device", simulating(device=value)) for value in ("gpu", None, 3))
    yield from (("executor", simulating(executor=value)) for value in (3, "processes"))

    yield from (("policy", on_trial(policy=value)) for value in (None, 3, "", b"x"))
    yield from (
        ("arms", on_trial(arms=value)) for value in (None, 3, [], ["a"], "ab", ["a", "a"], ["a", ""], ["a", 1])
    )
    yield from (("seed", on_trial(seed=value)) for value in (-1, 2**64, 1.5, "1"))
    yield from (("n_patients", on_trial(n_patients=value)) for value in (0, -1, 1.5, "10", math.nan))
    yield "n_patients", on_trial(policy="exp3")
    yield from (("run", on_trial(run=value)) for value in (-1, 1.5, "1"))
    yield from (("reward", on_trial(reward_values=value)) for value in ([], [2], ["a"], None, 1, [math.nan]))
    yield from (("name", on_trial(name=value)) for value in ("", "a/b", None, " a", "x" * 300, "a\nb"))

    yield from (("reward", reporting(reward=value)) for value in NO_UNIT_NUMBERS if value is not None)
    yield from (("actual", reporting(actual=value)) for value in ("walks", 0, "", object(), ["walk"]))
    yield from (("took_other", reporting(took_other=value)) for value in ("", 3, "a\x00b", "x" * 3000))
    yield from (("id", reporting(id=value, reward=1)) for value in (-1, 1, "0", None, 0.0, True))
    yield "report", reporting()
    yield "actual and took_nothing", reporting(actual="walk", took_nothing=True)

    yield from (("gamma", calling(adhere.Exp3, gamma=value)) for value in (0, 1.1, "a", math.nan))
    for table in ("actually", [], [[0]], [[0, 1]], [[0, 1], [2, 1]], [[0, 1], [0.5, 1]], 3):
        yield "protocol", calling(adhere.Thompson, protocol=table)
    yield from (("losses", calling(adhere.hedge, losses=value)) for value in ([], [[0.5]], [[2, 0]], "ab"))

    yield "nowhere.py", lambda folder: adhere.import_policies(folder / "nowhere.py")
    yield "nowhere.log", lambda folder: Trial.load(folder / "nowhere.log")
    yield "nowhere", lambda folder: Trial("thompson", ARMS).save(folder / "nowhere" / "x.log")
    yield "nowhere", lambda folder: adhere.SimulationResult.load(folder / "nowhere")


CASES = list(cases())


def test_a_hundred_bad_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(CASES) >= 100
    monkeypatch.chdir(tmp_path)
    for name in [name for name, one in registry.items() if not one.__module__.startswith("adhere.")]:
        monkeypatch.delitem(registry, name)  # of other tests: lists of policies name all that there are
    for number, (field, call) in enumerate(CASES):
        try:
            call(tmp_path)
        except InputError as error:
            said = str(error)
            assert field in said, (number, said)
            assert "\n" not in said, (number, said)
            assert len(said) < 400, (number, said)
        else:
            pytest.fail(f"case {number}, {field}: accepted")
    assert list(tmp_path.iterdir()) == []


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.complex_numbers(),
    st.lists(st.one_of(st.integers(), st.text()), max_size=3), st.dictionaries(st.text(), st.integers(), max_size=2),
    st.just(np.array([1.0])), st.just(object()),
)  # fmt: skip


@settings(max_examples=30, deadline=None, database=None, derandomize=True)
@given(policy=ANYTHING, population=ANYTHING, name=ANYTHING, arm=ANYTHING, reward=ANYTHING)
def test_whatever_is_given_is_used_or_refused(policy: Any, population: Any, name: Any, arm: Any, reward: Any) -> None:
    for call in (
        lambda folder: adhere.parse_policy(policy),
        lambda folder: adhere.as_population(population),
        lambda folder: Trial("thompson", [name, "other"]),
        reporting(actual=arm),
        reporting(reward=reward),
    ):
        with suppress(InputError):
            call(Path())
