"""What is no log of this format is refused by what is wrong with it; nothing of it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from adhere.errors import InputError
from adhere.store import Store, open_store
from adhere.trial.domain.events import LOG_FORMAT, AnyEvent, Created, EpochBegun, Recommended, decode, encode
from adhere.trial.log.log_file import import_log, read_log, write_log
from adhere.trial.secret.trial_secret import commitment_to
from adhere.trial.writing.processor import utc_now
from trial.live import SECRET, Live, log_of, replay_of, verdict_of

OTHER = bytes(32)


def events_with(**fields: Any) -> list[AnyEvent]:
    """The log of a trial with a recommendation, whose first record was written otherwise, with a good chain."""
    live = Live()
    live.recommend("s")
    created, *others = live.events()
    return [replace(created, **fields), *others]


def kept_in(store: Store) -> list[str]:
    with store.reading() as view:
        return list(view.trials())


@pytest.mark.parametrize("log_format", [1, 2, 3, 4, 5, LOG_FORMAT + 1])
def test_a_log_of_another_format_is_refused(log_format: int, tmp_path: Path) -> None:
    events, says = events_with(log_format=log_format), f"the log has format {log_format}, but this version reads"
    for found in (verdict_of(events).fault, replay_of(events).difference):
        assert found is not None
        assert (found.position, found.what.startswith(says)) == (1, True)
    path, store = tmp_path / "t.log", open_store()
    with log_of(events) as (view, trial):
        write_log(view, trial, path)
    assert str(read_log(path, store)[1]).startswith(f"record 1: {says}")
    first, rest = path.read_text().split("\n", 1)
    path.write_text(first.replace(f'"format":{LOG_FORMAT}', f'"format":{log_format}') + "\n" + rest)
    for is_import in (False, True):
        with pytest.raises(InputError, match=f"got 'a log of format {log_format}', expected format {LOG_FORMAT}"):
            import_log(path, store, (SECRET,), utc_now()) if is_import else read_log(path, store)
    assert kept_in(store) == []


def test_a_first_record_has_the_digest_of_the_design_and_a_commitment_or_a_seed() -> None:
    for live, seed, commitment in ((Live(), None, commitment_to(SECRET)), (Live(seed=7), 7, "")):
        created = live.events()[0]
        assert isinstance(created, Created)
        assert (created.log_format, created.seed, created.commitment) == (LOG_FORMAT, seed, commitment)
        assert created.design_digest == created.design.digest
        assert "seed" not in msgspec.json.decode(encode(created))["design"]
    for wrong, says in (
        ({"seed": 7}, "a trial has either a commitment to a secret or a seed"),
        ({"commitment": ""}, "a trial has either a commitment to a secret or a seed"),
        ({"design_digest": ""}, "its digest is not the digest of its design"),
    ):
        fault = verdict_of(events_with(**wrong)).fault
        assert fault is not None
        assert (fault.position, fault.what) == (1, says)


@pytest.mark.parametrize("epoch", [commitment_to(OTHER), commitment_to(SECRET), "another"])
def test_a_recommendation_is_of_the_epoch_in_which_it_stands(epoch: str) -> None:
    events: list[AnyEvent] = [
        replace(event, epoch=epoch) if isinstance(event, Recommended) else event for event in events_with()
    ]
    fault = verdict_of(events).fault
    assert fault is not None
    assert (fault.position, fault.what) == (2, "it names another epoch than the one it was made in")
    begun = EpochBegun(position=2, at=events[0].at, commitment=commitment_to(OTHER), reason="restored")
    later = [events[0], begun, replace(events[1], position=3)]
    fault = verdict_of(later).fault
    assert fault is not None
    # Something is missing in any case: nothing of people is kept beside these logs.
    assert ("it names another epoch" in fault.what) == (epoch != commitment_to(OTHER))


@pytest.mark.parametrize(
    ("secrets", "says"),
    [
        ((), r"secrets: got 'none', expected those of this trial: --secrets FILE"),
        ((OTHER,), "a secret with the commitment .* expected only secrets that the log has commitments to"),
        ((SECRET, OTHER), "expected only secrets that the log has commitments to"),
    ],
)
def test_a_trial_that_goes_on_is_imported_with_its_secrets_and_no_others(
    secrets: tuple[bytes, ...], says: str, tmp_path: Path
) -> None:
    live, path, store = Live(), tmp_path / "t.log", open_store()
    live.recommend("s")
    with live.store.reading() as view:
        write_log(view, 1, path)
    with pytest.raises(InputError, match=says):
        import_log(path, store, secrets, utc_now())
    assert kept_in(store) == []
    assert import_log(path, store, (SECRET,), utc_now()) == ("t", None)


@pytest.mark.parametrize(
    "body",
    [
        b'{"event":"created","position":1,"at":"2026-03-01T09:00:00Z","log_format":7,"design":[]}',
        b'{"event":"created","position":1,"at":"2026-03-01T09:00:00Z","log_format":7,"design":{"name":"t"}}',
        b'{"event":"recommended","position":2,"at":"2026-03-01T09:00:00Z","recommendation_id":0}',
        b'{"event":"created"}',
        b'{"event":"closed"}',
        b"[]",
        b"1",
    ],
)
def test_what_is_no_record_is_refused(body: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(body)
