"""Checks of what a policy promises: `adhere policies --check`."""

from adhere.contract.check import check_policies as check_policies
from adhere.contract.findings import Finding as Finding
from adhere.contract.findings import PolicyReport as PolicyReport
