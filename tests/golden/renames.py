"""Names that have changed since the goldens were written, in one table: old name to new name.

It holds for keys of JSON objects, for columns, tables and folders of data files, and for texts of policies. Other
values are never renamed. Ends of intervals are renamed in columns and in estimates, not in every JSON object: arms
are called "low" and "high", too.
"""

from __future__ import annotations

import re
from typing import Any

RENAMED: dict[str, str] = {}
RENAMED_ENDS: dict[str, str] = {"lo": "low", "hi": "high"}  # of columns: alone, or after an underscore
RENAMED_COLUMNS: dict[str, dict[str, str]] = {  # of some tables, by study and table
    "propositions/regret": {"runs": "n_runs"},
    "regret-growth/populations": {"stratum": "compliance_type"},
    "regret-growth/regret": {"patients": "n_patients", "runs": "n_runs"},
    "regret-growth/stuck": {"patients": "n_patients", "runs": "n_runs"},
}
# Policies, in values: patterns of the new text, and the text that the goldens know.
RENAMED_POLICIES = {
    r"bayes-optimal-aware\(horizon=(\d+)\)": r"bayes-optimal(horizon=\1, prior=uniform-other)",
    r"bayes-optimal-aware": "bayes-optimal(prior=uniform-other)",
}
NOT_COMPARED = {"version"}

_OLD_NAME = {new: old for old, new in RENAMED.items()}


def old_name(name: str) -> str:
    """The name under which the goldens know something."""
    return _OLD_NAME.get(name, name)


def old_column(table: str, name: str) -> str:
    """The name under which the goldens know a column of a table.

    >>> old_column("a", "share_low"), old_column("a", "high"), old_column("propositions/regret", "n_runs")
    ('share_lo', 'hi', 'runs')
    """
    for old, new in RENAMED_COLUMNS.get(table, {}).items():
        name = old if name == new else name
    for old, new in RENAMED_ENDS.items():
        if f"_{name}".endswith(f"_{new}"):
            name = name.removesuffix(new) + old
    return old_name(name)


def old_policy(text: str) -> str:
    """The text of a policy as the goldens know it.

    >>> old_policy("bayes-optimal-aware(horizon=12)")
    'bayes-optimal(horizon=12, prior=uniform-other)'
    """
    for new, old in RENAMED_POLICIES.items():
        text = re.sub(new, old, text)
    return text


def in_old_names(value: Any) -> Any:
    """A JSON value with its keys and policies as the goldens know them, less what is not compared."""
    if isinstance(value, str):
        return old_policy(value)
    if isinstance(value, dict):
        return {old_name(key): in_old_names(item) for key, item in value.items() if key not in NOT_COMPARED}
    return [in_old_names(item) for item in value] if isinstance(value, list | tuple) else value
