"""Tables about results: operating characteristics, names of numbers, and columns of exports and frames."""

from __future__ import annotations

import tomllib
from pathlib import Path

from markdown import code, plain, table

from adhere.evaluation.characteristics.quantities import MEANINGS

_HERE = Path(__file__).parent
_QUANTILES = "q25", "q50", "q75", "q95"


def characteristics_table() -> str:
    """Return every operating characteristic and its meaning; one row is for all quantiles of a number."""
    rows = []
    for name, meaning in MEANINGS.items():
        if name.endswith(_QUANTILES):
            continue
        if name.endswith("_q05") and f"{name[:-4]}_q95" in MEANINGS:
            name, meaning = f"{name}` … `{name[:-4]}_q95", meaning.replace("5%", "5% (25%, 50%, 75%, 95%)")
        rows.append((code(name), _about(name), plain(meaning)))
    return table(("name", "of", "meaning"), rows)


def _about(name: str) -> str:
    """Return what a characteristic is of: the trial, an arm, both, or an estimate."""
    if name in _OF_ESTIMATES:
        return "estimate"
    if name in _OF_ARMS:
        return "arm"
    return "trial, arm" if name in _OF_BOTH else "trial"


_OF_ESTIMATES = ("estimable", "bias", "rmse", "coverage", "interval_error")
_OF_ARMS = ("selected", "n_recommended", "allocation", "taken")
_OF_BOTH = ("type_one", "power", "wrong_claim", "superior", "inferior", "equivalent", "futile", "inconclusive")


def names() -> dict[str, dict[str, list[str]]]:
    """Return the names of numbers by section: what each is, and where it is used."""
    return tomllib.loads((_HERE / "names.toml").read_text(encoding="utf-8"))


def names_tables() -> str:
    """Return a table of names for each section."""
    return "\n".join(
        f"## {section}\n\n{table(('name', 'meaning', 'where'), [(code(name), *row) for name, row in rows.items()])}"
        for section, rows in names().items()
    )


def columns() -> dict[str, dict[str, str]]:
    """Return the columns of every export and frame, by its title."""
    return tomllib.loads((_HERE / "columns.toml").read_text(encoding="utf-8"))


def columns_tables() -> str:
    """Return a table of columns for each export and frame; meanings of numbers come from the names."""
    known = {name: row[0] for rows in names().values() for name, row in rows.items()}
    parts = []
    for title, rows in columns().items():
        about = rows.pop("_about")
        cells = [(code(name), meaning or known[name]) for name, meaning in rows.items()]
        parts.append(f"## {title}\n\n{about}\n\n{table(('column', 'meaning'), cells)}")
    return "\n".join(parts)
