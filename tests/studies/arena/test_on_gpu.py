"""The arena on a GPU, in Numba's simulator of CUDA: the same plays as on a processor."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import warnings
warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of words that overflow: compiled code lets them
import numpy as np
from adhere.policies import parse_policy
from adhere.simulation.execution.progress import Silent
from adhere.studies.arena.cells import Cell
from adhere.studies.arena.play import play
cell = Cell("confounded-3", 12, 2, 3)
plays = [play(parse_policy("thompson"), cell, 0, Silent(), device=one) for one in ("cuda", "cpu")]
print(np.array_equal(plays[0].shares, plays[1].shares), plays[0].n_threads)
"""


def test_a_play_on_a_gpu_is_that_of_a_processor() -> None:
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "True 1\n"), done.stderr
