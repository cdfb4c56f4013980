"""Write goldens, from any checkout of adhere: those of new policies, or with --anew all of them.

    PYTHONPATH=CHECKOUT/src:tests .venv/bin/python -m golden.generate CHECKOUT simulations live_scripts live_trials
    PYTHONPATH=CHECKOUT/src:tests .venv/bin/python -m golden.generate CHECKOUT --anew reproduction=REPORT

CHECKOUT is the checkout whose adhere is to be run, REPORT the folder of a finished `adhere reproduce --quick` of it.
Without --anew, an entry that a golden file already has is kept as it is, an entry that no test compares is removed,
and only compositions with a missing entry are played. So a new policy needs its line in `policies_under_test` and
the first command above.

The oldest entries were made from 0.1.0 (commit 16847bb). They were written anew when numbers were no longer held by
digests of all their bits, after all of them had been found the same: arms exactly, numbers except for rounding.
Entries of later policies, and live trials with a secret, are newer. Before you use --anew, compare the goldens with
what is found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adhere
from contract.policies_under_test import SUBJECTS

from .digests import read_golden, write_golden


def entries_of(part: str, report: str, known: dict[str, Any]) -> dict[str, Any]:
    """The entries of one golden file.

    Parts are imported one by one: an older adhere may not have what another part needs.
    """
    if part == "simulations":
        from .simulations import names, simulated

        return gathered(names, simulated, known)
    if part == "live_scripts":
        from .live_scripts import in_memory, scripts

        return gathered(lambda subject: [name for name, *_ in scripts(subject)], in_memory, known)
    if part == "live_trials":
        from .live_trials import POLICIES, by_secret

        return {policy: known.get(policy) or by_secret(policy) for policy in POLICIES}
    from .reproduction import MAY_CHANGE, data_files

    found = data_files(Path(report) / "data")
    pinned = (column for column in found if column.partition("/")[0] != MAY_CHANGE)
    return {column: known.get(column, found[column]) for column in pinned}


def gathered(
    names: Callable[[str], list[str]], play: Callable[[str], dict[str, Any]], known: dict[str, Any]
) -> dict[str, Any]:
    """The entries of all compositions; compositions whose entries are all known are not played."""
    entries: dict[str, Any] = {}
    for subject in SUBJECTS:
        expected = names(subject)
        found = {} if all(name in known for name in expected) else play(subject)
        entries |= {name: known.get(name) or found[name] for name in expected}
    return entries


if __name__ == "__main__":
    checkout, *parts = sys.argv[1:]
    if not Path(adhere.__file__).resolve().is_relative_to(Path(checkout).resolve()):
        sys.exit(f"adhere was imported from {adhere.__file__}, not from {checkout}")
    is_anew = "--anew" in parts
    for part, _, report in (text.partition("=") for text in parts if text != "--anew"):
        write_golden(part, entries_of(part, report, {} if is_anew else read_golden(part)))
