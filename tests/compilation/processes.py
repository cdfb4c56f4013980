"""Policies written to files and run in processes of their own, as a user's are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import adhere

FIXED = '''
from adhere.policies import Learner, choose, implements, learn, policy
{imports}

@policy("fixed")
class Fixed(Learner):
    """Always the same arm."""

@implements(choose, Fixed)
def choose_fixed(rule, state, memo, weight, rng):
    return {arm}

@implements(learn, Fixed)
def learn_fixed(rule, state, memo, arm, reward, weight, rng):
    pass
'''

# Says which arm of "defiers" was always chosen, and on standard error what was compiled.
SIMULATE = """
from adhere.simulation.execution.progress import Announcing
share = adhere.simulate("{policy}", "defiers", 10, 1, progress=Announcing())[0].allocation["treatment"].mean
print("arm", share)
"""

# Says which arm a live trial chooses. Its kernels are kept like the simulation's, and are compiled in half the time.
RECOMMEND = """
print("arm", adhere.Trial("{policy}", ("0", "1")).recommend().arm)
"""
IMPORT_AND_RECOMMEND = "import adhere\nadhere.import_policies({path!r})" + RECOMMEND


def write_fixed(path: Path, arm: str, imports: str = "") -> None:
    """Write the policy, in the same second and of the same length if need be: only its contents tell it apart."""
    path.write_text(FIXED.format(arm=arm, imports=imports))
    os.utime(path, (1_700_000_000, 1_700_000_000))


def start(script: str, cache: Path | None, *folders: Path, **variables: str) -> subprocess.Popen[str]:
    """Start Python with its kernels kept in `cache` and modules found in `folders`, then where ours are."""
    found_in = os.pathsep.join(map(str, (*folders, Path(adhere.__file__).parents[1])))
    environment = {**os.environ, "PYTHONPATH": found_in, "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("ADHERE_CACHE_DIR", None)
    if cache is not None:
        environment["ADHERE_CACHE_DIR"] = str(cache)
    environment.update(variables)
    command = [sys.executable, "-W", "default::UserWarning", "-c", script]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it printed, and what it said on standard error."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip(), err


def run(script: str, cache: Path | None, *folders: Path, **variables: str) -> tuple[str, str]:
    """Start and finish."""
    return finish(start(script, cache, *folders, **variables))


def kernels_in(folder: Path) -> list[Path]:
    """Every compiled kernel kept somewhere below a folder."""
    return sorted(folder.rglob("*.nbc"))
