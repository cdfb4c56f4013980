"""Compiling in several processes: real processes, a real folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Three compositions in five policies, as protocols and numbers need no code of their own, but numbers of arms do.
POLICIES = [
    ("uniform", 2),
    ("uniform/actual", 2),
    ("epsilon-greedy", 2),
    ("epsilon-greedy(epsilon=0.1)/comply", 2),
    ("uniform", 3),
]
SCRIPT = """
import json, sys
from adhere.studies.framework.precompile import _missing, precompile
said = []
policies = [tuple(one) for one in json.loads(sys.argv[1])]
before = _missing(policies)
precompile(policies, lambda *so_far: said.append(so_far))
print(json.dumps({"before": before, "after": _missing(policies), "said": said}))
"""


def run_with_cache(folder: Path) -> dict[str, list[Any]]:
    environment = {**os.environ, "ADHERE_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", SCRIPT, json.dumps(POLICIES)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    found: dict[str, list[Any]] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_what_is_missing_is_compiled_once_by_other_processes(tmp_path: Path) -> None:
    first = run_with_cache(tmp_path)
    assert first["before"] == [["uniform", 2], ["epsilon-greedy", 2], ["uniform", 3]]
    assert first["after"] == []
    assert first["said"] == [[0, 3], [1, 3], [2, 3], [3, 3]]
    again = run_with_cache(tmp_path)
    assert again == {"before": [], "after": [], "said": []}
