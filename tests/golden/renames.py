"""Names that have changed since the goldens were written, in one table: old name to new name.

It holds for keys of JSON objects, for columns, tables and folders of data files. Values are never renamed.
"""

from __future__ import annotations

from typing import Any

RENAMED: dict[str, str] = {}
NOT_COMPARED = {"version"}

_OLD_NAME = {new: old for old, new in RENAMED.items()}


def old_name(name: str) -> str:
    """The name under which the goldens know something."""
    return _OLD_NAME.get(name, name)


def in_old_names(value: Any) -> Any:
    """A JSON value with its keys as the goldens know them, less what is not compared."""
    if isinstance(value, dict):
        return {old_name(key): in_old_names(item) for key, item in value.items() if key not in NOT_COMPARED}
    return [in_old_names(item) for item in value] if isinstance(value, list | tuple) else value
