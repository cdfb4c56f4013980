"""A machine short of something makes no policy fail: what cannot be done is refused, and nothing of it is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adhere.design.make_design import make_design
from adhere.errors import UnavailableError
from adhere.store import open_store
from adhere.trial.policy import steps
from adhere.trial.writing.processor import CommandProcessor

from .live import Live

HERE = Path(__file__).parent


def test_without_descriptors_nothing_is_recorded_and_afterwards_all_is_learned(tmp_path: Path) -> None:
    """As when strangers hold every connection just after a start: the compiled code on disk cannot be read."""
    store = open_store(tmp_path / "trials.db")
    CommandProcessor(store).create(make_design("t", "thompson", ["a", "b"]))  # which leaves its code on disk
    store.close()
    done = subprocess.run(
        [sys.executable, str(HERE / "starving.py"), str(tmp_path / "trials.db")],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["starved"] == ["UnavailableError", "Receipt", "Receipt", "UnavailableError"]
    assert said["why"] == "the policy thompson cannot run at the moment (OSError)"
    assert said["fed"] == ["RecommendationResponse"] * 3 + ["Receipt"] * 3
    assert said["kinds"] == ["Created", *["Paused", "Resumed"] * 2, *["Recommended"] * 3, *["Reported"] * 3]
    assert said["fallbacks"] == [""] * 3
    assert (sum(said["successes"]), said["difference"]) == (5.0, "None")


@pytest.mark.parametrize("error", [OSError(24, "Too many open files", "/var/lib/x"), MemoryError("no")])
def test_an_error_of_the_machine_in_the_middle_of_a_step_is_not_the_policys(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = Live()
    live.recommend("s0")
    before = live.kinds()

    def failing(*_: object) -> None:
        raise error

    engine = live.processor.trial("t").engine
    with monkeypatch.context() as patched:
        patched.setattr(engine, "_kernels", {steps.CHOOSE_ARM: failing, steps.LEARN_UPDATES: failing})
        with pytest.raises(UnavailableError, match=type(error).__name__):
            live.recommend("s1")
        with pytest.raises(UnavailableError) as raised:
            live.report(0, reward=1.0)
        assert "/var/lib" not in str(raised.value)
    assert live.kinds() == before
    live.report(0, actual="walk", reward=1.0)
    assert live.snapshot().policy_state != engine.first_state.tobytes()
