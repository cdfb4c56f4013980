"""Source files of compiled code, and their contents when they were run.

Compiled code comes from the file of its loop, from the files of the policies, and from all of adhere's modules that
these import, directly or not, including functions and constants. Import statements are found in the text of a file,
since parsing it would take a hundred times as long.
"""

import hashlib
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from adhere.compilation.user_code import is_users

_PACKAGE = Path(__file__).parent.parent
_POLICIES = _PACKAGE / "policies" / "__init__.py"  # it imports every policy
# A list of names may be in parentheses, over several lines.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+adhere(?P<of>[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n(]*)"
    r"|import[ \t]+adhere(?P<module>[\w.]*))",
    re.MULTILINE,
)
_IN_LIST = re.compile(r"#[^\n]*|\bas\s+\w+")  # parts of the list that are not imported names
_NAME = re.compile(r"\w+")


class _Source(NamedTuple):
    digest: str
    imports: frozenset[Path]  # files of adhere


_noted: dict[Path, _Source] = {}


def note_sources(module: str) -> None:
    """Record the content of a module's file, now that it is run, and of all files that it may depend on.

    Later edits do not change the code in memory; only running a file again does.
    """
    file = _file_of(module)
    if file is not None:
        _noted.pop(file, None)
        _note({file})
    if module.partition(".")[0] != "adhere":  # adhere's own modules depend on installed modules only
        _note(_loaded_modules(package=None))


def note_imported(module: str) -> None:
    """Record the contents of a compiled loop's sources while the loop's module is being run."""
    _with_imports({_POLICIES, *_files_of([module])})


def noted_digest(module: str) -> str | None:
    """Return the digest of a module's file when it was run, or None if it was not recorded."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return _noted[Path(file)].digest if file and Path(file) in _noted else None


def fingerprint(classes: frozenset[type], *modules: str) -> str | None:
    """Return a digest of all sources of some modules' code, as compiled for these classes.

    Return None if a class has no file of its own, e.g. in a notebook.
    """
    own = _sources_of(classes)
    if own is None:
        return None
    every = sorted(_with_imports({_POLICIES, *_files_of(modules), *own}))
    return hashlib.sha256(repr([(str(path), _noted[path].digest) for path in every]).encode()).hexdigest()


@cache
def _sources_of(classes: frozenset[type]) -> frozenset[Path] | None:
    """Return the files of some classes, and all loaded files that a user's class may use.

    The result is that of the first call, since the class does not depend on files that are loaded later.
    """
    files = set[Path]()
    for rule_class in classes:
        file = _file_of(rule_class.__module__)
        if file is None or rule_class.__module__ == "__main__":
            return None
        package = rule_class.__module__.partition(".")[0]
        files |= {file} if package == "adhere" else {file, *_loaded_modules(package)}
    return frozenset(files)


def _file_of(module: str) -> Path | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def _files_of(modules: Iterable[str]) -> set[Path]:
    return {file for module in modules if (file := _file_of(module)) is not None}


def _with_imports(files: Iterable[Path]) -> set[Path]:
    """Return some files and all files of adhere that they import, directly or not."""
    found, left = set[Path](), set(files)
    while left:
        _note(left)
        found |= left
        left = {path for file in left for path in _noted[file].imports} - found
    return found


def _note(paths: Iterable[Path]) -> None:
    for path in paths:
        if path not in _noted:
            content = path.read_bytes()
            _noted[path] = _Source(
                hashlib.sha256(content).hexdigest(), imports_in(content.decode("utf-8", "replace"))
            )


def imports_in(source: str) -> frozenset[Path]:
    """Return the files of adhere that a source names in its import statements, anywhere in the text."""
    found = set()
    for statement in _IMPORT.finditer(source):
        module = (statement["of"] or statement["module"] or "").lstrip(".").replace(".", "/")
        file = _file_at(module)
        found.add(file)
        if statement["names"] and file is not None and file.name == "__init__.py":  # a name may be that of a module
            found |= {_file_at(f"{module}/{name}") for name in _NAME.findall(_IN_LIST.sub("", statement["names"]))}
    return frozenset(file for file in found if file is not None)


@cache
def _file_at(place: str) -> Path | None:
    """Return the file of a module or package of adhere, given its path in the package, or None if there is none."""
    path = _PACKAGE / place.strip("/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _loaded_modules(package: str | None) -> set[Path]:
    """Return the modules that a user's policy may use: those of its own package, and all that are not installed."""
    found = set()
    for name, module in list(sys.modules.items()):
        file, owner = getattr(module, "__file__", None), name.partition(".")[0]
        if not file or not file.endswith(".py") or owner == "adhere":
            continue
        if owner == package or is_users(file):
            found.add(Path(file))
    return {path for path in found if path.is_file()}


_note(_loaded_modules(package=None))
