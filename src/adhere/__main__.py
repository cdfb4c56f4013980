"""Entry point of `python -m adhere`."""

import sys

from adhere.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
