"""Headings beside the names of arms and strata."""

from __future__ import annotations

from collections.abc import Collection


def apart_from(names: Collection[str], heading: str) -> str:
    """A heading beside names, in brackets where one of them is the same.

    >>> apart_from(["tea", "nothing"], "nothing"), apart_from(["tea"], "nothing")
    ('(nothing)', 'nothing')
    """
    return apart_from(names, f"({heading})") if heading in names else heading
