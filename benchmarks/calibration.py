"""How long it takes to calibrate adaptr's published example, and the error of the threshold found on fresh seeds.

    python -m benchmarks.calibration [--trials 4000] [--seed 0] [--fresh 20000]

The bars: within 5 s on two cores, warm, and an error of 0.04 to 0.05. adaptr takes 3.66 minutes (its README, v1.4.0)
with 1,000 trials for each value tried; its threshold, 0.9814, has an error of about 0.06.
"""

from __future__ import annotations

import argparse
import time

import msgspec
from benchmarks.design import ADAPTR, compliers

import adhere
from adhere.evaluation.search.confirmed_number import Tried


def say(tried: Tried) -> None:
    print(f"  {tried.number:.5f}: {tried.errors[0]:.4f} in {tried.n_trials:,} trials, seed {tried.seed}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fresh", type=int, default=20_000)
    given = parser.parse_args()
    null = compliers(ADAPTR)
    adhere.calibrate(ADAPTR, scenarios=null, n_trials=200, progress=False)  # to compile
    start, cpu = time.perf_counter(), time.process_time()
    found = adhere.calibrate(
        ADAPTR, scenarios=null, n_trials=given.trials, seed=given.seed, n_threads=2, progress=False, on_tried=say
    )
    print(f"{time.perf_counter() - start:.1f} s, {time.process_time() - cpu:.1f} s of processors; {found!r}")
    alone = msgspec.structs.replace(found.design, estimands=())  # estimates would take longest
    again = adhere.evaluate(alone, null, given.fresh, seed=given.seed + 1000, progress=False)[0]
    print(f"on {given.fresh:,} fresh trials: {again.find('type_one').estimate}")


if __name__ == "__main__":
    main()
