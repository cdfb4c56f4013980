"""Worker processes that run batches one after another, requested through their standard input and output.

`multiprocessing` is not used: its processes import the program that started them, so every script that calls
`coverage` would need a main guard.
"""

import os
import pickle
import subprocess
import sys
from contextlib import suppress

from adhere.studies.coverage.batches import Batch, Counted, run_batch


class Worker:
    """A process that runs batches."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-m", "adhere.studies.coverage.worker"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, batch: Batch) -> Counted:
        """Run a batch and return its counts."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        try:
            pickle.dump(batch, asked)
            asked.flush()
            counted: Counted = pickle.load(answered)
        except (OSError, EOFError):
            ended = f"the process that analysed {batch.cell.title} ended with status {self._process.wait()}"
            raise ChildProcessError(ended) from None
        return counted

    def stop(self) -> None:
        """End the process at once."""
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # unwritten data are no longer needed
                    pipe.close()


def serve() -> None:
    """Run batches until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not reach the answers
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            pickle.dump(run_batch(pickle.load(sys.stdin.buffer)), answers)
            answers.flush()


if __name__ == "__main__":
    serve()
