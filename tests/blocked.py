"""Run Python in a process where some modules cannot be imported."""

from __future__ import annotations

import subprocess
import sys

_PRELUDE = """
import sys

class Blocked:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked)
for name in {names!r}:
    sys.modules.pop(name, None)
"""


def run_without(*modules: str, code: str) -> str:
    """What the code prints."""
    script = _PRELUDE.format(names=modules) + code
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
