"""Write the goldens anew, from any checkout of adhere.

    PYTHONPATH=CHECKOUT/src:tests .venv/bin/python -m golden.generate CHECKOUT [REPORT]

CHECKOUT is the checkout whose adhere is to be run; REPORT, if given, a finished `adhere reproduce --quick` of it.
What they hold now was made from 0.1.0 (commit 16847bb), by this script as it was when it was added: later, the
scripts for live trials follow the package's own names, and no longer run on 0.1.0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adhere
from contract.policies_under_test import SUBJECTS

from .digests import write_golden
from .live_scripts import in_memory
from .reproduction import data_files
from .simulations import simulated
from .stored_trials import POLICIES, in_store


def main(checkout: Path, report: Path | None) -> None:
    """Run everything and write it down."""
    if not Path(adhere.__file__).resolve().is_relative_to(checkout.resolve()):
        sys.exit(f"adhere was imported from {adhere.__file__}, not from {checkout}")
    write_golden("simulations", gathered(simulated))
    write_golden("live_scripts", gathered(in_memory))
    write_golden("stored_trials", {policy: in_store(policy) for policy in POLICIES})
    if report is not None:
        write_golden("reproduction", data_files(report / "data"))


def gathered(play: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """The entries of all compositions."""
    return {key: entry for subject in SUBJECTS for key, entry in play(subject).items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
