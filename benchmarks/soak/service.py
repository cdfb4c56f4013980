"""The service under test: `adhere serve` with a clock that the soak moves.

The clock is the machine's plus the seconds in a file, read anew for each command.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from adhere.service import context
from adhere.service.serve import serve
from adhere.service.settings import ServiceSettings, is_postgres
from adhere.trial.writing.processor import CommandProcessor


def main(database: str, port: str, clock: str) -> None:
    """Serve until SIGTERM."""
    offset = Path(clock)

    def now() -> datetime:
        try:
            return datetime.now(UTC) + timedelta(seconds=float(offset.read_text(encoding="utf-8")))
        except (OSError, ValueError):  # being written, or no descriptor left to read it
            return datetime.now(UTC)

    # The service makes its processor itself; the clock is no setting, since nobody but a test may move it.
    context.CommandProcessor = partial(CommandProcessor, now=now)  # type: ignore[misc, assignment]
    # Overdue reports are looked for often, so that a clock that jumps brings some about.
    place = {"database_url" if is_postgres(database) else "data": database}
    serve(ServiceSettings(**place, port=int(port), impute_every=1.0))


if __name__ == "__main__":
    main(*sys.argv[1:])
