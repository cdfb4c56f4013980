"""What a look at a trial can say, of the trial and of an arm."""

from __future__ import annotations

from typing import Final

# Of an arm, and of the trial as what it stops for. They stand here since they are compiled in.
ACTIVE: Final = 0
SUPERIOR: Final = 1
INFERIOR: Final = 2
EQUIVALENT: Final = 3
FUTILE: Final = 4
GO_ON: Final = ACTIVE
NAMES: Final = ("active", "superior", "inferior", "equivalent", "futile")
