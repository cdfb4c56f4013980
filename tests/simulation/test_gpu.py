"""The GPU's kernels, run by Numba's simulator of CUDA: the same results as on a processor, to the bit.

On a real GPU `python -m benchmarks.gpu` makes the same comparison, of more runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from adhere import InputError, simulate
from contract.policies_under_test import SUBJECTS

BORROWING = Path(__file__).parents[2] / "docs" / "examples" / "borrowing.py"  # which sees both arms
READS_TOO_EARLY = Path(__file__).parents[1] / "contract" / "reads_too_early.py"  # from memory that begins with NaN
# Two arms and a draw for each, three arms, a draw for the whole patient, a population of its own for each run.
POPULATIONS = ("stroke-aspirin", "stroke-heparin", "rich-and-poor", "uniform-other")
SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of words that overflow: compiled code lets them
import adhere
populations, policies, imported = json.loads(sys.argv[1])
for path in imported:
    adhere.import_policies(path)
found = {}
for population in populations:
    arguments = dict(n_patients=30, n_runs=3, seed=5, grid=4, progress=False, keep_runs=True)
    on_gpu = adhere.simulate(policies, population, device="cuda", **arguments)
    on_processor = adhere.simulate(policies, population, **arguments)
    for mine, theirs in zip(on_gpu.outcomes, on_processor.outcomes):
        found[f"{population} {mine.policy}"] = mine == theirs
    found[f"{population}, every run"] = on_gpu.runs == on_processor.runs
from evaluation.evaluations import SHORTER, evaluate_designs, numbers
on_gpu, on_processor = (evaluate_designs(SHORTER, 17, device=device) for device in ("cuda", "cpu"))
found["trials of a design"] = numbers(on_gpu) == numbers(on_processor)
print(json.dumps(found))
"""


def in_simulator(populations: list[str], policies: list[str], *imported: str) -> dict[str, bool]:
    command = [sys.executable, "-c", SCRIPT, json.dumps([populations, policies, imported])]
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found: dict[str, bool] = json.loads(done.stdout)
    return found


def test_every_policy_gives_the_same_on_a_gpu() -> None:
    policies = [*SUBJECTS, "bayes-optimal(horizon=100)", "borrowing", "reads-too-early"]
    found = in_simulator(["stroke-aspirin"], policies, str(BORROWING), str(READS_TOO_EARLY))
    assert len(found) == len(policies) + 2  # and every run, and trials of a design
    assert [name for name, equal in found.items() if not equal] == []


def many_arms(n_arms: int) -> str:
    """A population file of more arms than processors have compiled in."""
    arms = [f"arm-{arm}" for arm in range(n_arms)]
    takes = ", ".join(f'{arm} = "{arm}"' for arm in arms)
    reward = ", ".join(f"{arm} = {number / n_arms}" for number, arm in enumerate(arms))
    told = (
        f'[[compliance_type]]\nname = "as told"\nprobability = 1.0\ntakes = {{ {takes} }}\nreward = {{ {reward} }}\n'
    )
    return f'name = "many arms"\narms = {arms}\n{told}'


def test_every_kind_of_population_gives_the_same_on_a_gpu(tmp_path: Path) -> None:
    (tmp_path / "many.toml").write_text(many_arms(20), encoding="utf-8")
    populations = [*POPULATIONS, str(tmp_path / "many.toml")]
    found = in_simulator(populations, ["thompson/actual", "hierarchical(thompson, recycle=true)"])
    assert len(found) == 3 * len(populations) + 1
    assert [name for name, equal in found.items() if not equal] == []


def test_other_devices_are_refused() -> None:
    with pytest.raises(InputError, match=r"^device: got 'tpu', expected cpu or cuda"):
        simulate("thompson", "defiers", 10, 1, device="tpu")


@pytest.mark.skipif(find_spec("numba_cuda") is not None, reason="the extra is installed here")
def test_without_the_extra_a_sentence_says_so() -> None:
    with pytest.raises(
        InputError, match=r"^device: got 'cuda', expected cpu, since the extra `gpu` is not installed"
    ):
        simulate("thompson", "defiers", 10, 1, device="cuda")


def test_plain_objects_do_not_run_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plain:
        def choose(self) -> int:
            return 0

        def update(self, chosen: int, actual: int, reward: float) -> None:
            """Learn nothing."""

    monkeypatch.setattr("adhere.compilation.gpu.why_no_gpu", lambda: None)
    with pytest.raises(InputError, match="policies: got 'Plain', expected policies that are compiled"):
        simulate(Plain(), "defiers", 10, 1, device="cuda")
