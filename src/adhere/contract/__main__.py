"""The process in which a policy is compiled with bounds checks; see `compiled`."""

import sys

from adhere.contract.compiled import main

main(*sys.argv[1:])
