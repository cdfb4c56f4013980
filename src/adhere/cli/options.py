"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Imports = Annotated[
    list[Path] | None,
    typer.Option(
        "--import", metavar="FILE.py", help="A file that declares policies of your own. Repeat for several."
    ),
]
