"""The policy of `docs/tutorials/your-own-policy.md` does what the page says, and so does its faster version."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adhere
from adhere import InputError, parse_policy, simulate
from adhere.cli.main import main
from adhere.policies.base.registry import from_json

from .reference import next_chances, taught

DOCS = Path(__file__).parents[2] / "docs"
FILE = DOCS / "examples" / "softmax.py"
EXACT = DOCS / "examples" / "softmax_exact.py"
PAGE = (DOCS / "tutorials" / "your-own-policy.md").read_text()
CELLS = re.findall(r"```{code-cell} python\n(.*?)```", PAGE, flags=re.DOTALL)
LESSONS = [(0, 1.0), (0, 0.0), (1, 1.0), (2, 0.4)]  # means 0.5, 1 and 0.4


@pytest.fixture(autouse=True)
def imported() -> None:
    adhere.import_policies(FILE)
    adhere.import_policies(EXACT)


def softmax(means: list[float], temperature: float) -> Any:
    weights = np.exp(np.array(means) / temperature)
    return weights / weights.sum()


def plain(**options: Any) -> Any:
    """The page's plain Python version."""
    names: dict[str, Any] = {}
    (cell,) = [cell for cell in CELLS if "class PlainSoftmax" in cell]
    exec(cell.partition("both = ")[0], names)
    return names["PlainSoftmax"](2, **options)


def test_it_takes_at_most_30_lines_and_the_page_shows_it_whole() -> None:
    assert len(FILE.read_text().splitlines()) <= 30
    assert "{literalinclude} ../examples/softmax.py" in PAGE


def test_it_is_a_policy_like_any_other() -> None:
    policy = parse_policy("Softmax(0.05)/comply")
    assert str(policy) == "softmax(temperature=0.05)/comply"
    assert from_json(policy.to_json()) == policy
    with pytest.raises(InputError, match=r"softmax temperature: got 0\.0, expected a number at least 0\.002"):
        parse_policy("softmax(temperature=0)")
    with pytest.raises(InputError, match="did you mean 'softmax'"):
        parse_policy("sofmax")


def test_its_trial_says_that_probabilities_are_estimated_and_estimates_them_well() -> None:
    trial = taught("softmax(temperature=0.5)/actual", 3, LESSONS)
    assert trial.state == pytest.approx((2.0, 1.0, 1.0, 0.5, 1.0, 0.4))
    recommendation = trial.recommend()
    assert recommendation.estimated
    chances = softmax([0.5, 1.0, 0.4], 0.5)
    error = np.array(list(recommendation.probabilities.values())) - chances
    assert (np.abs(error) < 4 * np.sqrt(chances * (1 - chances) / 1000)).all()


def test_it_finds_the_better_arm_and_temperature_does_what_it_should() -> None:
    result = simulate([f"softmax(temperature={t})" for t in (0.05, 0.3, 100)], "defiers", 300, 60, progress=False)
    cool, warm, hot = (outcome.surplus.mean for outcome in result.outcomes)
    assert 140 < cool <= 150
    assert cool > warm > hot
    assert abs(hot) < 4 * math.sqrt(300) / 2 / math.sqrt(60)


def test_it_behaves_like_the_plain_python_version() -> None:
    """Two implementations, two sources of randomness, the same patients: rewards agree within Monte Carlo error."""
    for temperature in (0.1, 0.4):
        result = simulate(
            [f"softmax(temperature={temperature})", plain(temperature=temperature)],
            "rich-and-poor", 60, 300, grid=[20, 60], progress=False,
        )  # fmt: skip
        difference = result[1].difference("surplus")
        assert difference.se is not None
        assert abs(difference.mean) < 4 * difference.se
        early = result[1].trajectory("surplus", difference=True)
        assert abs(early.mean[0]) < 4 * early.se[0]
        assert result[1].policy == "plain softmax"


def test_the_command_line_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--import", str(FILE), "--population", "defiers", "--policy", "softmax(temperature=0.05)"]
    assert main(["simulate", *options, "--patients", "100", "--runs", "20", "--json", "-"]) == 0
    (outcome,) = json.loads(capsys.readouterr().out)
    assert outcome["policy"] == "softmax(temperature=0.05)"
    assert 40 < outcome["surplus"]["mean"] <= 50


@pytest.mark.slow
def test_with_probabilities_nothing_is_estimated() -> None:
    trial = taught("softmax-exact(temperature=0.5)/actual", 3, LESSONS)
    assert not trial.recommend().estimated
    assert next_chances(trial) == pytest.approx(softmax([0.5, 1.0, 0.4], 0.5), abs=1e-12)


@pytest.mark.slow
def test_without_arrays_it_follows_the_same_distribution() -> None:
    policies = ["softmax(temperature=0.5)", "softmax-exact(temperature=0.5)"]
    difference = simulate(policies, "rich-and-poor", 100, 2000, progress=False)[1].difference()
    assert difference.se is not None
    assert abs(difference.mean) < 4 * difference.se


@pytest.mark.slow
def test_it_serves_inside_hybrids() -> None:
    result = simulate("hierarchical(softmax(temperature=0.05))", "defiers", 300, 40, progress=False)[0]
    assert result.surplus.mean > 40
    assert set(result.experts) == {f"softmax(temperature=0.05){end}" for end in ("", "/actual", "/comply")}
