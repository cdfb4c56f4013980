"""Records made by hand are checked: what cannot be names its field, its first wrong entry and what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import adhere
from adhere.analysis.adaptive.confidence_sequence import RunningSequence
from adhere.analysis.estimates import View
from adhere.analysis.reading.from_table import read_records
from adhere.analysis.records import Records, digest_of
from adhere.errors import InputError

N = 40
GOOD: dict[str, Any] = {
    "name": "mine",
    "source": "numpy",
    "arms": ("old", "new"),
    "chosen": np.arange(N) % 2,
    "actual": np.arange(N) % 2,
    "reward": (np.arange(N) % 3 == 0).astype(float),
    "probabilities": np.full((N, 2), 0.5),
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reward": 10 * GOOD["reward"]}, r"records, reward\[0\]: got 10.0, expected a number from 0 to 1, or NaN"),
        ({"chosen": GOOD["chosen"] + 1}, r"records, chosen\[1\]: got 2, expected the number of an arm, from 0 to 1"),
        ({"actual": np.full(N, 7)}, r"records, actual\[0\]: got 7, expected the number of an arm, .*TOOK_NOTHING"),
        ({"actual": GOOD["actual"][:9]}, r"records, actual: got 'an array of shape \(9,\)', expected 40 entries"),
        ({"chosen": GOOD["chosen"] + 0.5}, "records, chosen: got 'an array of type float64', expected whole numbers"),
        ({"probabilities": np.full((N, 2), 0.7)}, r"records, probabilities\[0\]: got \[0.7, 0.7\], .*sum to one"),
        ({"probabilities": np.full((N, 2), [1.5, -0.5])}, r"probabilities\[0\]: got \[1.5, -0.5\], expected a prob"),
        ({"probabilities": np.full(N, 0.5)}, r"shape \(40,\)', expected 40 entries, as `chosen` has, of 2 arms each"),
        ({"count": np.full(N, -1)}, r"records, count\[0\]: got -1, expected a number of patients, at least 0"),
        ({"strata": ("a",), "stratum": np.arange(N)}, r"stratum\[1\]: got 1, expected the number of one of 1 strata"),
        ({"lost": np.arange(N)}, "records, lost: got 'an array of type int64', expected true or false"),
        (
            {"batch": -np.arange(N)},
            r"records, batch\[1\]: got -1, expected a number that is not below the one before",
        ),
        ({"control": 2}, "records, control: got 2, expected a whole number from 0 to 1"),
    ],
)
def test_what_cannot_be_is_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Records(**{**GOOD, **wrong})


def test_lists_and_whole_numbers_are_taken_and_get_a_digest() -> None:
    records, listed = (
        Records(**GOOD),
        {**GOOD, "chosen": GOOD["chosen"].tolist(), "reward": GOOD["reward"].astype(int)},
    )
    analysis = adhere.analyse(Records(**listed))
    assert analysis.digest == digest_of(records) != adhere.analyse(records, lower_is_better=True).digest
    assert analysis.order == "as given"
    missing = {"reward": np.full(N, np.nan), "probabilities": np.full((N, 2), np.nan)}
    assert not Records(**{**GOOD, **missing}).is_exact.any()
    assert len(Records("", "", ("a", "b"), [], [], [])) == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("new", "old"), "treatment: got 'new', expected the number of an arm, from 0 on, not its name"),
        ((1, -1), "control: got -1, expected the number of an arm"),
        ((1, 1), "control: got 1, expected another arm than the treatment"),
        ((1, 0, "compliers"), "view: got 'compliers', expected View.INTENTION_TO_TREAT or View.COMPLIERS"),
    ],
)
def test_a_running_sequence_is_of_two_arms_by_number(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RunningSequence(*given)


def test_a_running_sequence_is_of_arms_and_probabilities_that_there_are() -> None:
    with pytest.raises(
        InputError, match="treatment: got 2, expected the number of an arm of the records, from 0 to 1"
    ):
        RunningSequence(2, 0).update(Records(**GOOD))
    running = RunningSequence(1, 0, View.COMPLIERS)
    with pytest.raises(InputError, match="Without the probability of each arm at each decision"):
        running.update(Records(**{**GOOD, "probabilities": None}))
    running.update(Records(**GOOD))
    with pytest.raises(InputError, match="reward: got 10, expected a number from 0 to 1"):
        running.report(0, reward=10)


def test_columns_of_probabilities_that_fit_no_arm_are_said() -> None:
    frame = pl.DataFrame(
        {"chosen": ["old", "new"] * 20, "actual": ["old", "new"] * 20, "reward": [0, 1] * 20, "time": range(40)}
    ).with_columns(share_old=0.5, share_new=0.5)
    assert read_records(frame, propensity="share_").probabilities is not None
    message = (
        "propensity: got 'share_n', expected how the columns of the arms' probabilities begin: share_nold, share_nnew"
    )
    with pytest.raises(InputError, match=rf"{message} \(found: share_new\)"):
        read_records(frame, propensity="share_n")
    odd = read_records(frame.rename({"share_old": "propensity_1", "share_new": "propensity_2"}))
    assert odd.probabilities is None
    said = "columns propensity_1, propensity_2 end with the name of no arm (new, old): not read as probabilities"
    assert said in odd.warnings
