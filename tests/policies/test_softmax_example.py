"""The policy of `docs/your-own-policy.md` does what the page says, and so do the page's other pieces of code."""

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
PAGE = (DOCS / "your-own-policy.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
LESSONS = [(0, 1.0), (0, 0.0), (1, 1.0), (2, 0.4)]  # means 0.5, 1 and 0.4


def block_with(words: str) -> str:
    """The one piece of code of the page that contains these words."""
    (found,) = [block for block in BLOCKS if words in block]
    return str(found)


@pytest.fixture(autouse=True)
def imported() -> None:
    adhere.import_policies(FILE)


def softmax(means: list[float], temperature: float) -> Any:
    weights = np.exp(np.array(means) / temperature)
    return weights / weights.sum()


def plain(**options: Any) -> Any:
    """The page's plain Python version."""
    names: dict[str, Any] = {}
    exec(block_with("class PlainSoftmax"), names)
    return names["PlainSoftmax"](2, **options)


def test_it_takes_at_most_30_lines_and_the_page_shows_it_whole() -> None:
    assert len(FILE.read_text().splitlines()) <= 30
    assert FILE.read_text() in BLOCKS


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


def variant(tmp_path: Path, name: str, source: str) -> None:
    """Import a copy of the example under another name."""
    file = tmp_path / f"{name}.py"
    file.write_text(source.replace('@policy("softmax"', f'@policy("{name}"'))
    adhere.import_policies(file)


@pytest.mark.slow
def test_with_probabilities_nothing_is_estimated(tmp_path: Path) -> None:
    variant(tmp_path, "softmax-exact", FILE.read_text() + block_with("@implements(probabilities"))
    trial = taught("softmax-exact(temperature=0.5)/actual", 3, LESSONS)
    assert not trial.recommend().estimated
    assert next_chances(trial) == pytest.approx(softmax([0.5, 1.0, 0.4], 0.5), abs=1e-12)


@pytest.mark.slow
def test_without_arrays_it_follows_the_same_distribution(tmp_path: Path) -> None:
    source, faster = FILE.read_text(), block_with("noise")
    begin, end = source.index("@implements(choose"), source.index("@implements(learn")
    variant(tmp_path, "softmax-loop", source[:begin] + faster + "\n\n" + source[end:])
    trial = taught("softmax-loop(temperature=0.5)/actual", 3, LESSONS)
    chances = softmax([0.5, 1.0, 0.4], 0.5)
    assert (np.abs(next_chances(trial) - chances) < 4 * np.sqrt(chances * (1 - chances) / 1000)).all()


@pytest.mark.slow
def test_it_serves_inside_hybrids() -> None:
    result = simulate("hierarchical(softmax(temperature=0.05))", "defiers", 300, 40, progress=False)[0]
    assert result.surplus.mean > 40
    assert set(result.experts) == {f"softmax(temperature=0.05){end}" for end in ("", "/actual", "/comply")}


def test_the_pages_first_lines_run_from_the_root(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(DOCS.parent)
    exec(block_with("adhere.import_policies("), {})
    assert "softmax/comply" in capsys.readouterr().out
