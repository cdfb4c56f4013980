"""Make each mutant in a copy of the checkout, run tests there, and print which test noticed it.

    scripts/mutants [NAME…] [--slow] [--near]

Without names it takes all of `mutants.py`, one at a time. It runs the tests near the mutant first and, if they pass,
all quick tests (`--near`: no others). With `--slow` the slow tests are run too. The name `nothing` changes nothing:
all tests should pass then. The exit status is 1 if a mutant survived.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import NamedTuple

from .mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
NOTHING = Mutant("nothing", "Nothing.", "pyproject.toml", "", "", ())
SOURCES = ("src", "packages/adhere-client/src")
_MAX_SECONDS = {"near": 900, "all": 3600}
_NOTICED = re.compile(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", re.MULTILINE)


class Outcome(NamedTuple):
    """The first test that noticed a mutant, and in which run; None if none did."""

    test: str | None
    run: str = ""


def mutated(text: str, mutant: Mutant) -> str:
    """Return a file's text with the slip in it."""
    if (n := text.count(mutant.old)) != 1:
        sys.exit(
            f"{mutant.name}: its old text is {n} times in {mutant.file}, expected once; bring mutants.py up to date"
        )
    return text.replace(mutant.old, mutant.new)


def copy_checkout(copy: Path) -> None:
    """Copy all files that git does not ignore, with what was compiled of them, and give the copy an environment."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    _make_environment(copy)
    kernels = Path("src/adhere/__pycache__/kernels")  # named by the contents of their sources
    if (ROOT / kernels).is_dir():
        shutil.copytree(ROOT / kernels, copy / kernels)


def _make_environment(copy: Path) -> None:
    """Make an environment with the copy's adhere, also for processes that tests start; everything else is shared."""
    venv.create(copy / ".venv", symlinks=True)
    (installed,) = (copy / ".venv").glob("lib/*/site-packages")
    paths = [str(copy / folder) for folder in SOURCES] + [path for path in sys.path if path.endswith("site-packages")]
    (installed / "_own.pth").write_text("\n".join(paths) + "\n", encoding="utf-8")
    program = copy / ".venv/bin/adhere"
    program.write_text(f'#!/bin/sh\nexec "{copy}/.venv/bin/python" -m adhere "$@"\n', encoding="utf-8")
    program.chmod(0o755)


def write(path: Path, text: str) -> None:
    """Write a source file, and forget what Python compiled of it: that is known by size and second only."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def noticed_by(copy: Path, run: str, tests: tuple[str, ...], *, slow: bool) -> str | None:
    """Run tests in the copy; return the first that fails, or None."""
    options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "--ignore=tests/mutants"]
    options += ["-m", "slow or not slow"] if slow else []
    options += ["-n", "2", "--dist", "worksteal"] if run == "all" else []
    command = [str(copy / ".venv/bin/python"), "-m", "pytest", *options, *tests]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=_MAX_SECONDS[run], check=False
        )
    except subprocess.TimeoutExpired:
        return f"the time limit of {_MAX_SECONDS[run]} s"
    if done.returncode in (0, 5):  # 5: all tests found are of the other tier
        return None
    found = _NOTICED.search(done.stdout)
    return found[1] if found else f"exit status {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"


def outcome_of(copy: Path, mutant: Mutant, *, slow: bool, only_near: bool) -> Outcome:
    """Run the tests near a mutant that was made in the copy, then all."""
    if mutant.near and (test := noticed_by(copy, "near", mutant.near, slow=slow)):
        return Outcome(test, "near")
    if only_near:
        return Outcome(None)
    return Outcome(noticed_by(copy, "all", (), slow=slow), "all")


def main(arguments: list[str]) -> int:
    """Run the mutants named, or all."""
    options = {one for one in arguments if one.startswith("--")}
    names = [one for one in arguments if one not in options]
    known = {mutant.name: mutant for mutant in (*MUTANTS, NOTHING)}
    if unknown := [*(options - {"--slow", "--near"}), *(name for name in names if name not in known)]:
        sys.exit(f"unknown: {', '.join(unknown)}; expected --slow, --near or names of mutants: {', '.join(known)}")
    chosen = [known[name] for name in names] or list(MUTANTS)
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        copy_checkout(copy)
        for mutant in chosen:
            path = copy / mutant.file
            text, begin = path.read_text(encoding="utf-8"), time.monotonic()
            if mutant is not NOTHING:
                write(path, mutated(text, mutant))
            found = outcome_of(copy, mutant, slow="--slow" in options, only_near="--near" in options)
            write(path, text)
            said = f"killed    {found.run:<4}  {found.test}" if found.test else "survived"
            print(f"{mutant.name:<34}  {time.monotonic() - begin:6.0f} s  {said}", flush=True)
            survivors += [] if found.test else [mutant.name]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} killed; survived: {', '.join(survivors) or 'none'}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
