"""Write the goldens anew, from any checkout of adhere.

    PYTHONPATH=CHECKOUT/src:tests .venv/bin/python -m golden.generate CHECKOUT simulations live_scripts live_trials
    PYTHONPATH=CHECKOUT/src:tests .venv/bin/python -m golden.generate CHECKOUT reproduction=REPORT

CHECKOUT is the checkout whose adhere is to be run, REPORT the folder of a finished `adhere reproduce --quick` of it.
What the goldens hold was first made from 0.1.0 (commit 16847bb). It was written anew when numbers were no longer held
by digests of all their bits, after all of it had been found the same: arms exactly, numbers but for rounding. Live
trials with a secret are newer. Before you write goldens anew, compare what they hold with what is found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adhere
from contract.policies_under_test import NEWER_THAN_GOLDENS, SUBJECTS

from .digests import write_golden


def entries_of(part: str, report: str) -> dict[str, Any]:
    """What one golden file holds. Parts are imported one by one: an older adhere may not have what another needs."""
    if part == "simulations":
        from .simulations import simulated

        return gathered(simulated)
    if part == "live_scripts":
        from .live_scripts import in_memory

        return gathered(in_memory)
    if part == "live_trials":
        from .live_trials import POLICIES, by_secret

        return {policy: by_secret(policy) for policy in POLICIES}
    from .reproduction import MAY_CHANGE, data_files

    found = data_files(Path(report) / "data")
    return {column: facts for column, facts in found.items() if column.partition("/")[0] != MAY_CHANGE}


def gathered(play: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """The entries of all compositions."""
    subjects = [subject for subject in SUBJECTS if subject not in NEWER_THAN_GOLDENS]
    return {key: entry for subject in subjects for key, entry in play(subject).items()}


if __name__ == "__main__":
    checkout, *parts = sys.argv[1:]
    if not Path(adhere.__file__).resolve().is_relative_to(Path(checkout).resolve()):
        sys.exit(f"adhere was imported from {adhere.__file__}, not from {checkout}")
    for part, _, report in (text.partition("=") for text in parts):
        write_golden(part, entries_of(part, report))
