"""Which files of policies have passed `adhere policies --check`: noted beside compiled code, by what they held."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from adhere.compilation.sources import noted_digest
from adhere.compilation.storage import cache_root


def note_checked(module: str) -> None:
    """Remember that the policies of a module's file, as it is now, have passed their check."""
    if (mark := _mark(module)) is not None:
        with suppress(OSError):  # then the next simulation says once more that it was not checked
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def is_checked(module: str) -> bool:
    """Whether the policies of a module's file, as it is now, have passed their check."""
    mark = _mark(module)
    return mark is not None and mark.exists()


def _mark(module: str) -> Path | None:
    root, digest = cache_root(), noted_digest(module)
    return root / "checked" / digest if root is not None and digest is not None else None
