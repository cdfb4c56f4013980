"""Put the package's random words through dieharder, in four orders, after checking the C words that feed it.

    python benchmarks/randomness/battery.py [--seed N] [--order NAME …] [--test "NUMBER [options]" …]

Needs a C compiler and dieharder (Debian: `apt-get install dieharder`). All tests on all orders take about 25
minutes of one core. A sound generator is called WEAK on one p-value in a hundred; repeat those with another seed.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adhere.randomness import _DECISION_SHIFT, _DRAW_BITS, mix, stream_keys

ORDERS = ("draws", "decisions", "runs", "purposes")
_PURPOSES = 7
# Every test of `dieharder -a` but 14, which its authors say not to use. The costly ones are cut: 17 has 20
# p-values instead of 100, and the n-tuple tests run at a few n (203 at all lags would read 220 GB).
TESTS = (
    *(str(number) for number in (*range(14), 15, 16)),
    "17 -p 20",
    *("100", "101", "102"),
    *("200 -n 4", "200 -n 8"),
    *("201 -n 2", "201 -n 3", "201 -n 5"),
    *("202 -n 3", "202 -n 5"),
    *("203 -n 0", "203 -n 1", "203 -n 7"),
    *("204", "205", "206", "207", "208", "209"),
)


def expected_words(order: str, seed: int, n: int) -> NDArray[np.uint64]:
    """The first words of an order, by the package itself."""
    i = np.arange(n, dtype=np.uint64)
    zero = np.zeros(n, np.uint64)
    decision, purpose, draw = {
        "draws": (i >> _DRAW_BITS, zero, i & np.uint64(2**20 - 1)),
        "decisions": (i, zero, zero),
        "runs": (zero, zero, zero),
        "purposes": (i // np.uint64(_PURPOSES), i % np.uint64(_PURPOSES), zero),
    }[order]
    keys = stream_keys(seed, 0, n) if order == "runs" else stream_keys(seed, 0, 1)
    counters = (decision << _DECISION_SHIFT) | (purpose << _DRAW_BITS) | draw
    words: NDArray[np.uint64] = mix(counters ^ keys[:, 0], keys[:, 1])
    return words


def build(folder: Path) -> Path:
    """Compile the C program that writes words."""
    program = folder / "words"
    subprocess.run(["cc", "-O3", "-o", program, Path(__file__).with_name("words.c")], check=True)
    return program


def check(program: Path, order: str, seed: int, n: int = 3 << 20) -> None:
    """Stop if the C words are not the package's words; n reaches past the draws of one decision."""
    with subprocess.Popen([program, order, str(seed)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        got = np.frombuffer(process.stdout.read(8 * n), "<u8")
        process.kill()
    if not np.array_equal(got, expected_words(order, seed, n)):
        raise SystemExit(f"the C words are not the package's words (order {order}, seed {seed})")


def run_test(program: Path, order: str, seed: int, test: str) -> list[str]:
    """The verdicts of one test, one line for each p-value."""
    with subprocess.Popen([program, order, str(seed)], stdout=subprocess.PIPE) as words:
        command = ["dieharder", "-g", "200", "-d", *test.split()]
        report = subprocess.run(command, stdin=words.stdout, capture_output=True, text=True, check=True).stdout
        words.kill()
    return [line for line in report.splitlines() if line.rstrip().endswith(("PASSED", "WEAK", "FAILED"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--order", nargs="+", choices=ORDERS, default=ORDERS)
    parser.add_argument("--test", nargs="+", default=TESTS, help='e.g. 12 or "203 -n 7"')
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for order in wanted.order:
            check(program, order, wanted.seed)
            started, verdicts = time.monotonic(), []
            for test in wanted.test:
                for line in run_test(program, order, wanted.seed, test):
                    verdicts.append(line.split("|")[-1].strip())
                    print(f"{order:10s}{line.rstrip()}", flush=True)
            counts = {name: verdicts.count(name) for name in ("PASSED", "WEAK", "FAILED")}
            print(f"{order}: {counts}, seed {wanted.seed}, {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
