"""Cases of a table that the slow tests alone try."""

from __future__ import annotations

from typing import Any

import pytest


def slow(*case: Any) -> Any:
    """A case that only `make test-slow` runs."""
    return pytest.param(*case, marks=pytest.mark.slow)
