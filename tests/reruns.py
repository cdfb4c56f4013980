"""Failures of slow tests that passed at their second try, printed in the summary.

`make test-slow` runs a slow test that fails once more (pytest-rerunfailures), because these tests use real processes
and clocks on shared machines. A test that needed its second try is a fault to look into.
"""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print each first failure in full: the plugin itself prints only the names."""
    failures = terminalreporter.stats.get("rerun", [])
    if not failures:
        return
    terminalreporter.section("failed at the first try: faults to look into")
    for report in failures:
        terminalreporter.write_sep("_", report.nodeid)
        terminalreporter.write_line(report.longreprtext)
