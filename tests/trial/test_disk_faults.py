"""A disk that is full or broken at each of its writes in turn: nothing is acknowledged that was not committed."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adhere.store import open_store
from adhere.trial.log.replay import replay
from adhere.trial.log.verify import verify
from store.faulty_disk import FaultyDisk

# In a process on the faulty disk: pairs of requests, with the n-th write failing, for every n until none fails.
# Prints the ids of the requests that were acknowledged, and how many failed.
PLAY = """
import json, sys
from store.faulty_disk import arm, count
from adhere.errors import StoreError
from adhere.store import open_store
from adhere.design.make_design import make_design
from adhere.trial.writing.processor import CommandProcessor
from adhere.trial.domain.commands import Recommend, Report

path, error, sticky = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "sticky"
store = open_store(path)
processor = CommandProcessor(store)
processor.create(make_design("t", "thompson/actual", ["a", "b"]))
acknowledged, n_failed, n = [], 0, 0

def ask(requests):
    global n_failed
    try:
        answers = processor.execute(requests)
    except StoreError:
        n_failed += 1
        return None
    acknowledged.extend(request.request_id for request in requests)
    return answers

while True:
    n += 1
    arm(n, error, sticky=sticky)
    made = ask([Recommend(trial="t", request_id=f"q{n}-{k}", subject=f"s{n}-{k}") for k in range(3)])
    if made is not None:
        said = {"trial": "t", "actual": "a", "reward": 1.0}
        ids = [advice.recommendation_id for advice in made]
        ask([Report(request_id=f"r{n}-{one}", recommendation_id=one, **said) for one in ids])
    done = count() < n
    arm(0, error)
    if done:
        break
    # After a fault the service goes on: with the disk mended, the same requests are taken.
    assert ask([Recommend(trial="t", request_id=f"q{n}-{k}", subject=f"s{n}-{k}") for k in range(3)]) is not None
print(json.dumps({"acknowledged": acknowledged, "failed": n_failed, "tried": n}))
"""


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC], ids=["broken", "full"])
@pytest.mark.parametrize("lasting", ["passing", "sticky"])
def test_no_acknowledgement_without_commit(tmp_path: Path, error: int, lasting: str) -> None:
    disk = FaultyDisk(tmp_path / "disk")
    path = disk.folder / "trials.db"
    environment = {**disk.environment(), "PYTHONPATH": os.pathsep.join(sys.path)}  # the adhere that is tested here
    command = [sys.executable, "-c", PLAY, str(path), str(error), lasting]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["failed"] >= 3
    assert found["tried"] > found["failed"]
    disk.after_power_cut()
    store = open_store(path)
    with store.reading() as view:
        there = {record.request_id for record in view.records(1, 0, 10**6)}
        assert set(found["acknowledged"]) <= there
        assert verify(view, 1).fault is None
        assert replay(view, 1).difference is None
    store.close()


# In a process on the faulty disk, for every n: one request with the n-th write failing, then a copy of the files as a
# crash at that moment would leave them. Prints the errors, and whether the request is in the copy.
CRASH = """
import errno, json, shutil, sys
from itertools import count as numbers
from pathlib import Path
from store.faulty_disk import arm, count
from adhere.errors import StoreError
from adhere.store import open_store
from adhere.design.make_design import make_design
from adhere.trial.writing.processor import CommandProcessor
from adhere.trial.domain.commands import Recommend

path, copy = Path(sys.argv[1]), Path(sys.argv[2])
store = open_store(path)
processor = CommandProcessor(store)
processor.create(make_design("t", "uniform", ["a", "b"]))

def is_in_a_copy(key):
    for name in (path.name, f"{path.name}-wal", f"{path.name}-progress"):
        shutil.copyfile(path.with_name(name), copy.with_name(name.replace(path.name, copy.name)))
    crashed = open_store(copy)
    with crashed.reading() as view:
        there = any(record.request_id == key for record in view.records(1, 0, 10**6))
    crashed.close()
    copy.unlink()
    return there

def outcomes(error):
    for n in numbers(1):
        arm(n, error)
        key = f"{error}-{n}"
        try:
            processor.execute([Recommend(trial="t", request_id=key, subject=key)])
        except StoreError as failure:
            arm(0, error)
            yield type(failure).__name__, is_in_a_copy(key)
        else:
            done = count() < n
            arm(0, error)
            if done:
                return

print(json.dumps([list(outcomes(error)) for error in (errno.EIO, errno.ENOSPC)]))
"""


def test_nothing_was_written_is_said_only_when_it_is_known(tmp_path: Path) -> None:
    disk = FaultyDisk(tmp_path / "disk")
    environment = {**disk.environment(), "PYTHONPATH": os.pathsep.join(sys.path)}  # the adhere that is tested here
    command = [sys.executable, "-c", CRASH, str(disk.folder / "trials.db"), str(tmp_path / "crashed.db")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    broken, full = ({tuple(outcome) for outcome in outcomes} for outcomes in json.loads(done.stdout))
    # The second is a commit that the marker could not count.
    assert full == {("StoreUnavailableError", False), ("OutcomeUnknownError", True)}
    assert broken == {("OutcomeUnknownError", False), ("OutcomeUnknownError", True)}
