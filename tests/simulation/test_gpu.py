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
from contract.policies_under_test import SLOW, SUBJECTS

BORROWING = Path(__file__).parents[2] / "docs" / "examples" / "borrowing.py"  # which sees both arms
READS_TOO_EARLY = Path(__file__).parents[1] / "contract" / "reads_too_early.py"  # from memory that begins with NaN
SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of words that overflow: compiled code lets them
import adhere
simulations, imported = json.loads(sys.argv[1])
for path in imported:
    adhere.import_policies(path)
found = {}
for population, policies in simulations:
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


def check_in_simulator(simulations: dict[str, list[str]], *imported: Path) -> None:
    """Compare policies on populations in one process, and trials of a design."""
    command = [
        sys.executable,
        "-c",
        SCRIPT,
        json.dumps([list(simulations.items()), [str(path) for path in imported]]),
    ]
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found: dict[str, bool] = json.loads(done.stdout)
    assert len(found) == sum(len(policies) + 1 for policies in simulations.values()) + 1
    assert [name for name, equal in found.items() if not equal] == []


def populations(folder: Path) -> list[str]:
    """A draw for each of two arms, three arms, a draw for a whole patient, a population for each run, many arms."""
    n_arms = 20  # more than processors have compiled in
    arms = [f"arm-{arm}" for arm in range(n_arms)]
    takes = ", ".join(f'{arm} = "{arm}"' for arm in arms)
    reward = ", ".join(f"{arm} = {number / n_arms}" for number, arm in enumerate(arms))
    told = (
        f'[[compliance_type]]\nname = "as told"\nprobability = 1.0\ntakes = {{ {takes} }}\nreward = {{ {reward} }}\n'
    )
    (folder / "many.toml").write_text(f'name = "many arms"\narms = {arms}\n{told}', encoding="utf-8")
    return ["stroke-aspirin", "stroke-heparin", "rich-and-poor", "uniform-other", str(folder / "many.toml")]


def test_policies_and_every_kind_of_population_give_the_same_on_a_gpu(tmp_path: Path) -> None:
    aspirin, *others = populations(tmp_path)
    policies = [subject for subject in SUBJECTS if subject not in SLOW] + ["borrowing", "reads-too-early"]
    check_in_simulator(
        {aspirin: policies} | {name: ["thompson/actual"] for name in others}, BORROWING, READS_TOO_EARLY
    )


@pytest.mark.slow
def test_more_compositions_give_the_same_on_a_gpu(tmp_path: Path) -> None:
    aspirin, *others = populations(tmp_path)
    hybrids = {name: ["hierarchical(thompson, recycle=true)"] for name in others}
    check_in_simulator({aspirin: [*SLOW, "bayes-optimal(horizon=100)"]} | hybrids)


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
