"""Code older than its source never runs."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.bytecode import FunctionIdentity

import adhere
from adhere import parse_policy
from adhere.compilation import Kernel
from adhere.compilation.sources import imports_in
from adhere.design.design import Design
from adhere.design.parts import Looks, Stopping
from adhere.evaluation.kernels.trial_runner import TrialRunner
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from evaluation.trials import compliers
from parsing import parsed

from .processes import IMPORT_AND_RECOMMEND, RECOMMEND, SIMULATE, kernels_in, run, write_fixed

PACKAGE = Path(adhere.__file__).parent


def test_an_edited_policy_runs_as_it_now_is(tmp_path: Path) -> None:
    file, cache = tmp_path / "mine.py", tmp_path / "cache"
    script = IMPORT_AND_RECOMMEND.format(path=str(file), policy="fixed")
    kept: list[int] = []
    for arm in ("0", "1", "0"):
        write_fixed(file, arm=arm)
        assert run(script, cache)[0] == f"arm {arm}"
        kept.append(len(kernels_in(cache)))
    assert kept == [kept[0], 2 * kept[0], 2 * kept[0]]  # the first version is still kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "call"),
    [
        ("ARM = 0\n", "ARM = 1\n", "arms.ARM"),
        (
            "from adhere.compilation import inline\n\n@inline\ndef pick(rule):\n    return 0\n",
            "from adhere.compilation import inline\n\n@inline\ndef pick(rule):\n    return 1\n",
            "arms.pick(rule)",
        ),
    ],
    ids=["constant", "function"],
)
def test_an_edited_module_that_the_policy_leans_on_counts_too(
    tmp_path: Path, before: str, after: str, call: str
) -> None:
    file, module, cache = tmp_path / "mine.py", tmp_path / "arms.py", tmp_path / "cache"
    script = IMPORT_AND_RECOMMEND.format(path=str(file), policy="fixed")
    write_fixed(file, arm=call, imports="import arms")
    module.write_text(before)
    assert run(script, cache, tmp_path)[0] == "arm 0"
    module.write_text(after)
    assert run(script, cache, tmp_path)[0] == "arm 1"


@pytest.mark.slow
def test_an_edit_while_a_process_runs_is_not_mixed_up_with_the_code_it_runs(tmp_path: Path) -> None:
    """What was imported before the edit is compiled after it, and must not be kept as the new version."""
    file, cache = tmp_path / "mine.py", tmp_path / "cache"
    write_fixed(file, arm="0")
    edit = f"\nfrom pathlib import Path\npath = Path({str(file)!r})\n"
    edit += "path.write_text(path.read_text().replace('return 0', 'return 1'))\n"
    script = f"import adhere\nadhere.import_policies({str(file)!r})" + edit + RECOMMEND.format(policy="fixed")
    assert run(script, cache)[0] == "arm 0"
    assert run(IMPORT_AND_RECOMMEND.format(path=str(file), policy="fixed"), cache)[0] == "arm 1"


def test_a_module_reloaded_after_an_edit_runs_as_it_now_is(tmp_path: Path) -> None:
    """As notebooks do it, with importlib.reload or %autoreload."""
    file, cache = tmp_path / "mine.py", tmp_path / "cache"
    write_fixed(file, arm="0")
    once = RECOMMEND.format(policy="fixed")
    edit = f"\nfrom pathlib import Path\npath = Path({str(file)!r})\n"
    edit += "path.write_text(path.read_text().replace('return 0', 'return 1'))\nimportlib.reload(mine)\n"
    out, _ = run("import importlib, adhere, mine\n" + once + edit + once, cache, tmp_path)
    assert out.split("\n") == ["arm 0", "arm 1"]


@pytest.mark.slow
def test_a_class_typed_in_runs_uncached_and_says_so(tmp_path: Path) -> None:
    file, cache = tmp_path / "mine.py", tmp_path / "cache"
    write_fixed(file, arm="1")
    out, err = run("import adhere\n" + file.read_text() + SIMULATE.format(policy="fixed"), cache)
    assert out == "arm 1.0"
    assert "UserWarning: fixed is compiled anew each time: its code is not in a file of its own" in err
    assert kernels_in(cache) == []


@cache
def imported_by(file: Path) -> set[Path]:
    """The files of adhere that a file imports, by its syntax: written apart from `adhere.compilation.sources`."""
    found = set()
    for node in ast.walk(parsed(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            assert node.module is not None
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    own = [PACKAGE.joinpath(*name.split(".")[1:]) for name in found if name.partition(".")[0] == "adhere"]
    paths = [place for path in own for place in (path.with_suffix(".py"), path / "__init__.py")]
    return {path for path in paths if path.is_file()}


def all_imported_by(file: Path) -> set[Path]:
    """The same, directly or not, and the file itself."""
    found, left = set[Path](), {file}
    while left:
        found |= left
        left = {path for one in left for path in imported_by(one)} - found
    return found


@cache
def loops() -> dict[str, set[Path]]:
    """By module that has compiled loops: the files that its compiled code comes from."""
    has_loop = re.compile(r"\b(Gpu)?Kernel\(\w+")
    files = [file for file in PACKAGE.rglob("*.py") if has_loop.search(file.read_text(encoding="utf-8"))]
    policies = all_imported_by(PACKAGE / "policies" / "__init__.py")
    return {
        ".".join(["adhere", *file.relative_to(PACKAGE).with_suffix("").parts]): policies | all_imported_by(file)
        for file in files
    }


def test_every_file_with_code_to_compile_is_imported_by_a_loop_or_by_the_policies() -> None:
    """An implementation that no loop's module imports would be compiled in without naming the folder."""
    compiles = re.compile(r"^@(no_)?inline\b|^@implements\(|^@intrinsic\(|^specialise\(", re.MULTILINE)
    found = {file for file in PACKAGE.rglob("*.py") if compiles.search(file.read_text(encoding="utf-8"))}
    sources = loops()
    assert PACKAGE / "looks" / "posterior.py" in found & sources["adhere.evaluation.kernels.trial"]
    assert found <= set().union(*sources.values())
    assert len(sources) >= 12


EDIT_EACH = """
import importlib, json, sys
from pathlib import Path
from adhere.compilation import sources
unseen = []
for module, names in json.load(sys.stdin).items():
    importlib.import_module(module)
    before = sources.fingerprint(frozenset(), module)
    for name in names:
        file = Path(sys.argv[1]) / name
        content = file.read_bytes()
        file.write_bytes(content + b"\\n# edited\\n")
        sources._noted.pop(file, None)
        if sources.fingerprint(frozenset(), module) == before:
            unseen.append([module, name])
        file.write_bytes(content)
        sources._noted.pop(file, None)
    assert sources.fingerprint(frozenset(), module) == before
print(json.dumps(unseen))
"""


@pytest.mark.slow
def test_an_edit_of_any_file_that_compiled_code_imports_names_another_folder(tmp_path: Path) -> None:
    """In a copy of adhere, file by file, for every loop."""
    copy = tmp_path / "adhere"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))  # what was compiled before
    files = {module: [str(file.relative_to(PACKAGE)) for file in own] for module, own in loops().items()}
    assert all("protocols.py" in own for own in files.values())  # whose constants are compiled in
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, "-c", EDIT_EACH, str(copy)], input=json.dumps(files), env=environment, capture_output=True,
        text=True, cwd=tmp_path, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_imports_are_found_wherever_they_stand() -> None:
    source = """
from adhere.protocols import TOOK_OTHER as OTHER, CHOSEN  # and why
from adhere.policies.learners import (
    ucb1,  # a module
    Ucb1 as Base,
)
import adhere.randomness
if True:
    from adhere import intervals
>>> from adhere.checks import check_integer
from somewhere.adhere.files import write_file
"""
    found = {str(file.relative_to(PACKAGE)) for file in imports_in(source)}
    own = {
        "protocols.py",
        "policies/learners/__init__.py",
        "policies/learners/ucb1.py",
        "randomness.py",
        "__init__.py",
        "intervals.py",
    }
    assert found == own


@pytest.mark.slow
def test_every_function_that_numba_compiles_is_in_a_file_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask Numba itself which functions it reads."""
    read: set[Path] = set()
    read_function = FunctionIdentity.from_function.__func__

    def note(cls: Any, function: Any) -> Any:
        read.add(Path(function.__code__.co_filename))
        return read_function(cls, function)

    monkeypatch.setattr(FunctionIdentity, "from_function", classmethod(note))
    stopping = Stopping("posterior", superiority=0.9, inferiority=0.1)
    design = Design("d", "hierarchical(exp3)", ("a", "b"), 60, looks=Looks(at=(20, 40)), stopping=stopping)
    population = compliers(0.3, 0.7)
    runners: dict[str, Any] = {
        "adhere.simulation.kernels.patient_loop": CompiledRunner(
            parse_policy("hac-ucb"), population, 50, np.array([50])
        ),
        "adhere.evaluation.kernels.trial": TrialRunner(design, population, np.array([60]), None),
    }
    for module, runner in runners.items():
        read.clear()
        dispatcher = Kernel(runner.loop._function, static=True)  # with nothing in memory, nor on disk
        monkeypatch.setattr("adhere.compilation.kernel.cache_folder", lambda classes, module: None)
        dispatcher.compiled(*runner._example())
        own = {file for file in read if file.is_relative_to(PACKAGE)}
        assert len(own) > 1  # beside the loop, whatever this process has not compiled before
        assert own <= loops()[module]
