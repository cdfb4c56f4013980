"""A terminal in which a cluster was started, and then `adhere simulate` on it, until somebody presses Ctrl-C.

Run as the leader of a session: all processes are of its group, which a terminal interrupts as one. Prints what the
command came to, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from distributed import Client

from simulation.dask_processes import dask_processes

HEARS_CTRL_C = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = (sys.executable, "-c", f"{HEARS_CTRL_C}; from adhere.cli.main import main; sys.exit(main())", "simulate")
ENDLESS = ("--population", "defiers", "--policy", "uniform", "--patients", "100000", "--runs", "10000000")


def press_ctrl_c_while_it_runs(folder: Path, seconds: float) -> dict[str, object]:
    """Return what became of the command, `seconds` after its first task was with a worker."""
    with (
        dask_processes(folder, "first", "second") as dask,
        Client(dask.address, set_as_default=False) as client,  # type: ignore[no-untyped-call]
        subprocess.Popen([*COMMAND, *ENDLESS, "--cluster", dask.address], stderr=subprocess.PIPE) as process,
    ):
        deadline = time.monotonic() + 120
        while not any(client.processing().values()):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(seconds)
        client.close()
        pressed = time.monotonic()
        os.killpg(os.getpgrp(), signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate()
        waited = time.monotonic() - pressed
    return {"status": process.returncode, "seconds": waited, "said": said.decode(errors="replace")}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: None)  # this one goes on; the default returns in what it starts
    print(json.dumps(press_ctrl_c_while_it_runs(Path(sys.argv[1]), float(sys.argv[2]))))
