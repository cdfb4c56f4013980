"""`python -m adhere`."""

from __future__ import annotations

import sys

from adhere.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
