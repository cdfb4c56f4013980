"""Which source files compiled code comes from, and what they held when they were run."""

from __future__ import annotations

import hashlib
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
# Compiled code comes from these alone; whatever else changes, kernels stay good.
_OWN_PARTS = (
    "randomness.py",
    "compilation/*.py",
    "policies/*.py",
    "simulation/*.py",
    "analysis/*/*_kernel.py",
    "trial/steps.py",
    "trial/lessons.py",
    "trial/allocation.py",
    "trial/beliefs.py",
    "trial/looks.py",
    "trial/look_judges.py",
    "trial/best_arm.py",
    "trial/beta_posterior.py",
    "trial/z_statistic.py",
    "design/*kernel.py",
    "design/setting.py",
    "design/room.py",
)
_noted: dict[Path, str] = {}


def note_sources(module: str) -> None:
    """Remember what a module's file holds now that it is run, and what all it may lean on held.

    Later edits do not change the code in memory; only running a file again does.
    """
    file = getattr(sys.modules.get(module), "__file__", None)
    if file and Path(file).is_file():
        _noted.pop(Path(file), None)
        _note({Path(file)})
    if module.partition(".")[0] != "adhere":  # whose own modules lean on installed ones only
        _note(_loaded_modules(package=None))


def noted_digest(module: str) -> str | None:
    """What a module's file held when it was run, as a digest; None if it was not noted."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return _noted.get(Path(file)) if file else None


def _note(paths: Iterable[Path]) -> None:
    for path in paths:
        if path not in _noted:
            _noted[path] = hashlib.sha256(path.read_bytes()).hexdigest()


def fingerprint(classes: frozenset[type]) -> str | None:
    """A name for the contents of every source the code of these classes may come from.

    None if a class has no file of its own, as in a notebook.
    """
    files = _own_sources()
    for rule_class in classes:
        file = getattr(sys.modules.get(rule_class.__module__), "__file__", None)
        if file is None or rule_class.__module__ == "__main__" or not Path(file).is_file():
            return None
        package = rule_class.__module__.partition(".")[0]
        if package != "adhere":
            files |= {Path(file), *_loaded_modules(package)}
    _note(files)
    return hashlib.sha256(repr([(str(path), _noted[path]) for path in sorted(files)]).encode()).hexdigest()


def _own_sources() -> set[Path]:
    return {path for part in _OWN_PARTS for path in _PACKAGE.glob(part)}


def _loaded_modules(package: str | None) -> set[Path]:
    """Modules a user's policy may lean on: its own package's, and all that are not installed."""
    installed = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    found = set()
    for name, module in list(sys.modules.items()):
        file, owner = getattr(module, "__file__", None), name.partition(".")[0]
        if not file or not file.endswith(".py") or owner == "adhere":
            continue
        if owner == package or not file.startswith(installed):
            found.add(Path(file))
    return {path for path in found if path.is_file()}


_note(_own_sources() | _loaded_modules(package=None))
