"""Policies of one's own in live trials: a broken one is refused at creation, an edited one is another version."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

from adhere import InputError, import_policies
from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend
from adhere.trial.writing.processor import CommandProcessor
from trial.live import send

OWN = """
from adhere.policies import Learner, choose, implements, learn, policy

@policy("{name}")
class Own(Learner):
    pass

@implements(choose, Own)
def choose_own(rule, state, memo, weight, rng):
    return {arm}

@implements(learn, Own)
def learn_own(rule, state, memo, arm, reward, weight, rng):
    pass
"""


def declare(path: Path, name: str, arm: int) -> None:
    for module in [key for key in sys.modules if key.startswith(f"{path.stem}_")]:  # as a new process would
        del sys.modules[module]
    path.write_text(OWN.format(name=name, arm=arm))
    import_policies(path)


def test_a_policy_that_fails_at_once_starts_no_trial(tmp_path: Path) -> None:
    declare(tmp_path / "broken_own.py", "broken-own", arm=7)
    with closing(open_store(tmp_path / "trials.db")) as store:
        with pytest.raises(InputError, match=r"broken-own fails at its first recommendation: .*got 7"):
            CommandProcessor(store).create(make_design("t", "broken-own", ["a", "b"]))
        with store.reading() as view:
            assert not view.trials()


@pytest.mark.slow
def test_an_edited_file_is_another_version_and_said_to_be(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    versions = []
    caplog.set_level(logging.WARNING, "adhere.trial")
    with closing(open_store(tmp_path / "trials.db")) as store:
        for arm in (0, 1):
            declare(tmp_path / "edited_own.py", "edited-own", arm)
            processor = CommandProcessor(store)
            if arm == 0:
                processor.create(make_design("t", "edited-own", ["a", "b"]))
            assert not caplog.records
            processor.make_ready(live := processor.trial("t"))
            versions.append(live.engine.algorithm_version)
            send(processor, Recommend(trial="t", request_id=str(arm), by="1", site="Leeds", subject=f"p{arm}"))
    assert all(re.fullmatch(r"edited-own:1\+[0-9a-f]{8} randomness:1", version) for version in versions)
    assert versions[0] != versions[1]
    (warning,) = caplog.messages
    assert warning.startswith("trial t: the code of its policy has changed (it was edited-own:1+")
