from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np
import pytest


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Trials whose policies run as Python: compiling one that no other test has takes seconds."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    with np.errstate(over="ignore"):  # of random words, as compiled code does
        yield
