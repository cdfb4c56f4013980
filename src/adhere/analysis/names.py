"""The order of names of arms and strata."""

from __future__ import annotations

from collections.abc import Iterable


def sorted_names(names: Iterable[str]) -> list[str]:
    """Names in order, numbers by their size and before others.

    >>> sorted_names(["b", "10", "9"])
    ['9', '10', 'b']
    """

    def key(name: str) -> tuple[bool, float, str]:
        try:
            return False, float(name), name
        except ValueError:
            return True, 0.0, name

    return sorted(names, key=key)
