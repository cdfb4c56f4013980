"""python -m adhere.service FILE.db --port 8000."""

from __future__ import annotations

import argparse
import sys

from adhere.errors import InputError
from adhere.service.serve import serve
from adhere.store import StoreError


def main() -> int:
    """Serve as the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m adhere.service", description="Serve trials over HTTP.")
    parser.add_argument("database", help="a SQLite file, or postgresql://…")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--log-level", default="info")
    given = vars(parser.parse_args())
    try:
        serve(given.pop("database"), **given)
    except (InputError, StoreError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
