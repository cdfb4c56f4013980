"""When a step of a policy fails: whether it is the policy's fault or the machine's, and what a record says of it."""

from __future__ import annotations

import re
from typing import Final

from adhere.errors import UnavailableError
from adhere.policies.base.policy import Policy

# No fault of a policy's, whatever it was doing.
OF_THE_MACHINE: Final = (MemoryError, OSError)
_PATH = re.compile(r"""(?<![\w)\]}])(?:[A-Za-z]:[\\/]|~?/|\.{1,2}/)[^\s'",;)]*""")


def reason_of(error: Exception) -> str:
    """Why a policy failed, for the log: what it raised and said, in short, without paths of this machine.

    >>> reason_of(ValueError("no /home/me/table.csv, nor thompson/actual"))
    'ValueError: no <path>, nor thompson/actual'
    """
    said = " ".join(_PATH.sub("<path>", str(error)).split())
    return f"{type(error).__name__}: {said}"[:300] if said else type(error).__name__


def unavailable(policy: Policy, error: Exception) -> UnavailableError:
    """The error for a machine that is short of something; without the words of the operating system."""
    return UnavailableError(f"the policy {policy} cannot run for now ({type(error).__name__})")
