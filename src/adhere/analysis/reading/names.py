"""Names of arms and strata: their order, and headings that are not among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable


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


def apart_from(names: Collection[str], heading: str) -> str:
    """A heading beside names, in brackets where one of them is the same.

    >>> apart_from(["tea", "nothing"], "nothing"), apart_from(["tea"], "nothing")
    ('(nothing)', 'nothing')
    """
    return apart_from(names, f"({heading})") if heading in names else heading
