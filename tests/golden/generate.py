"""Write goldens, from any checkout of adhere: those of new policies, or with --anew all of them.

    PYTHONPATH=CHECKOUT/src:tests .venv/bin/python -m golden.generate CHECKOUT simulations live_scripts live_trials
    PYTHONPATH=CHECKOUT/src:tests .venv/bin/python -m golden.generate CHECKOUT analyses pages evaluations
    PYTHONPATH=CHECKOUT/src:tests .venv/bin/python -m golden.generate CHECKOUT --anew reproduction=REPORT
    PYTHONPATH=CHECKOUT/src:tests .venv/bin/python -m golden.generate CHECKOUT --bits=FOLDER analyses evaluations

CHECKOUT is the checkout whose adhere is to be run, REPORT the folder of a finished `adhere reproduce --quick` of it.
With --bits, all entries are made and written to FOLDER, each with a digest of every bit of its numbers. Files that
two checkouts make on one machine are equal byte for byte if what users compute is.

Without --anew, an entry that a golden file already has is kept as it is, an entry that no test compares is removed,
and only compositions with a missing entry are played. So a new policy needs the first command above, which writes its
file in policies/.

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
from contract.policies_under_test import ARM_COUNTS, SUBJECTS

from . import digests
from .digests import FOLDER, read_golden, write_golden


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
    if part in ("analyses", "pages"):
        from .analyses import ANALYSES, PAGES, analysed, page

        if part == "pages":
            return {name: known.get(name) or page(name) for name in PAGES}
        return {name: known.get(name) or analysed(name) for name in ANALYSES}
    if part == "evaluations":
        from .evaluations import EVALUATIONS, evaluated

        return {name: known.get(name) or evaluated(name) for name in EVALUATIONS}
    from .reproduction import data_files

    found = data_files(Path(report) / "data")
    return {column: known.get(column, found[column]) for column in found}


def gathered(
    names: Callable[[str], list[str]], play: Callable[[str, int], dict[str, Any]], known: dict[str, Any]
) -> dict[str, Any]:
    """The entries of all compositions; compositions whose entries are all known are not played."""
    entries: dict[str, Any] = {}
    for subject in SUBJECTS:
        expected = names(subject)
        is_known = all(name in known for name in expected)
        found = {} if is_known else {name: one for n in ARM_COUNTS for name, one in play(subject, n).items()}
        entries |= {name: known.get(name) or found[name] for name in expected}
    return entries


if __name__ == "__main__":
    checkout, *given = sys.argv[1:]
    if not Path(adhere.__file__).resolve().is_relative_to(Path(checkout).resolve()):
        sys.exit(f"adhere was imported from {adhere.__file__}, not from {checkout}")
    options = {name: value for name, _, value in (text.partition("=") for text in given if text.startswith("--"))}
    digests.with_bits = "--bits" in options
    folder = Path(options["--bits"]) if digests.with_bits else FOLDER
    for part, _, report in (text.partition("=") for text in given if not text.startswith("--")):
        is_known = not options and (part in digests.BY_POLICY or (FOLDER / f"{part}.json").exists())
        write_golden(part, entries_of(part, report, read_golden(part) if is_known else {}), folder)
