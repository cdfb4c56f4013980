"""Entry point of the process in which a policy is compiled with bounds checks; see `compiled`."""

import sys

from adhere.contract.compiled import main

if __name__ == "__main__":
    main(*sys.argv[1:])
