"""Processes that run batches: each is asked for one batch after the other, through its standard input and output.

Not `multiprocessing`: a process that it starts runs the program that started it once more, which a script that calls
`coverage` must then be written for.
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
        """What a batch came to."""
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
        """End the process, whatever it does."""
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what could not be written is of no use any more
                    pipe.close()


def serve() -> None:
    """Run batches until no more come."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no answer
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            pickle.dump(run_batch(pickle.load(sys.stdin.buffer)), answers)
            answers.flush()


if __name__ == "__main__":
    serve()
