"""Output files and folders: checked before the work, written whole or not at all after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from adhere.errors import InputError
from adhere.files import is_device, replacing

PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def check_file(option: str, path: Path) -> None:
    """Refuse a file that could not be written."""
    if path.is_dir():
        raise InputError(option, str(path), "a file, not a folder")
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(option, str(path), "a file that may be written")
    if not is_device(path):
        _check_parent(option, path)


def check_folder(option: str, path: Path) -> None:
    """Refuse a folder that could not be made or written into."""
    if path.exists() and not path.is_dir():
        raise InputError(option, str(path), "a folder, not a file")
    if path.is_dir() and not os.access(path, os.W_OK):
        raise InputError(option, str(path), "a folder that may be written into")
    if not path.exists():
        _check_parent(option, path)


def check_plot(option: str, path: Path) -> None:
    """Refuse a plot that could not be drawn or written."""
    if path.suffix.lower() not in PLOT_SUFFIXES:
        raise InputError(
            option, str(path), f"a file ending in {', '.join(PLOT_SUFFIXES[:-1])} or {PLOT_SUFFIXES[-1]}"
        )
    check_file(option, path)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError(option, str(path), "matplotlib to draw it: pip install 'adhere[report]'") from None


def _check_parent(option: str, path: Path) -> None:
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(option, str(path), f"a place in an existing folder ({parent} is none)")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(option, str(path), f"a place in a folder that may be written into ({parent} may not)")


def write_files(contents: Mapping[Path, bytes], before: Callable[[], None]) -> None:
    """Write every file beside its place, call `before`, and only then move them all into place."""
    with ExitStack() as stack:
        for path, content in contents.items():
            if not is_device(path):
                _write_bytes(stack.enter_context(replacing(path)), content, path)
        before()
    for path, content in contents.items():
        if is_device(path):
            _write_bytes(path, content, path)


def _write_bytes(path: Path, content: bytes, asked_for: Path) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError("file", str(asked_for), f"a file that may be written ({error.strerror})") from None
