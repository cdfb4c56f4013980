"""Logs of older formats, in which the seed was a part of the design, and beside it a horizon that was no limit."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from adhere.store import open_store
from adhere.trial.commands import MarkInError, Recommend, RecommendationResponse
from adhere.trial.events import LOG_FORMAT, Created, created_event, decode, encode
from adhere.trial.log.chain import verify
from adhere.trial.log.log_file import import_log, write_log
from adhere.trial.log.replay import replay
from adhere.trial.make_design import make_design
from adhere.trial.processor import CommandProcessor
from trial.live import Live, send

FORMAT_3 = Path(__file__).parent / "format-3.log"
FORMAT_4 = Path(__file__).parent / "format-4.log"
HEAD_4 = "c51f9c7fce98c578b71a38806313de6cbc0351fa2866745a4d96c1def7d90b2b"
HEAD = "9e64897f53bb86f5dd81c6638fff37e81df987fb7b319068fa262a409a1bdd28"


def test_a_log_of_format_3_is_read_verified_replayed_and_goes_on(tmp_path: Path) -> None:
    store = open_store()
    assert import_log(FORMAT_3, store, None) == ("headache", None)
    with store.reading() as view:
        created = created_event(view, 1)
        assert (created.log_format, created.seed, created.design_digest) == (3, 2**64 - 1, "")
        assert created.design == make_design("headache", "thompson", ["walk", "aspirin"])  # with no limit of patients
        assert (verify(view, 1).fault, verify(view, 1).head) == (None, HEAD)
        found = replay(view, 1)
        assert (found.difference, found.n_derived) == (None, 6)
        assert write_log(view, 1, tmp_path / "again.log") == HEAD
    processor = CommandProcessor(store)
    made = send(processor, Recommend(trial="headache", request_id="r", subject="S-9"))
    assert isinstance(made, RecommendationResponse)
    assert made.recommendation_id == 6
    processor.create(created.design)  # which is there already
    with store.reading() as view:
        assert (verify(view, 1).fault, replay(view, 1).difference) == (None, None)


def test_a_log_of_format_4_is_read_verified_replayed_and_goes_on() -> None:
    store = open_store()
    assert import_log(FORMAT_4, store, None) == ("t", None)
    with store.reading() as view:
        created = created_event(view, 1)
        assert (created.log_format, created.design_digest) == (4, created.design.digest)
        assert (verify(view, 1).fault, verify(view, 1).head) == (None, HEAD_4)
    processor = CommandProcessor(store)
    send(processor, MarkInError(trial="t", request_id="e", recommendation_id=4, reason="entered twice"))
    with store.reading() as view:
        assert (verify(view, 1).fault, replay(view, 1).difference) == (None, None)


def test_a_first_record_has_the_seed_beside_the_design_and_the_digest_of_that() -> None:
    created = Live(seed=7).events()[0]
    assert isinstance(created, Created)
    assert (created.log_format, created.seed) == (LOG_FORMAT, 7)
    assert created.design_digest == created.design.digest
    assert "seed" not in msgspec.json.decode(encode(created))["design"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"event":"created","position":1,"at":"2026-03-01T09:00:00Z","log_format":3,"design":[]}',
        b'{"event":"created","position":1,"at":"2026-03-01T09:00:00Z","log_format":3,"design":{"name":"t"}}',
        b'{"event":"created","position":1,"at":"2026-03-01T09:00:00Z","log_format":4,"design":{"seed":1}}',
        b'{"event":"created"}',
        b'{"event":"closed"}',
        b"[]",
        b"1",
    ],
)
def test_what_is_no_record_of_any_format_is_refused(body: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(body)
