"""Tokens that expire, are rotated, and when they were last used."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from adhere.access.tokens import Tokens
from adhere.errors import ConflictError, InputError, UnknownError
from adhere.service.settings import ServiceSettings
from adhere.store import Store, open_store
from service.serving import Service, in_thread, wait_until

DAY = timedelta(days=1)


class Clock:
    def __init__(self) -> None:
        self.offset = 0.0

    def __call__(self) -> float:
        return time.time() + self.offset

    def after(self, span: timedelta) -> datetime:
        return datetime.fromtimestamp(self(), UTC) + span


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(clock: Clock) -> Tokens:
    return Tokens(open_store(), clock)


def test_an_expired_token_is_not_found(tokens: Tokens, clock: Clock) -> None:
    made, text = tokens.make("statistician", "Ada", expires_at=clock.after(DAY))
    assert tokens.find(text.encode()) == made
    assert (tokens.status(made), tokens.is_expired(text.encode())) == ("valid", False)
    clock.offset = DAY.total_seconds() + 1
    assert tokens.find(text.encode()) is None
    assert (tokens.status(made), tokens.is_expired(text.encode())) == ("expired", True)
    assert tokens.is_expired(b"adh_other") is False


def test_the_end_must_lie_ahead(tokens: Tokens, clock: Clock) -> None:
    for wrong in (clock.after(-DAY), datetime(2099, 1, 1), clock.after(36525 * DAY)):
        with pytest.raises(InputError, match="expires_at"):
            tokens.make("admin", "Ada", expires_at=wrong)


def test_an_expired_admin_does_not_count(tokens: Tokens, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    tokens.make_first()
    tokens.make("admin", "for a week", expires_at=clock.after(7 * DAY))
    clock.offset = 8 * DAY.total_seconds()
    with pytest.raises(ConflictError, match="the only valid one of an admin"):
        tokens.revoke(1)
    tokens.make("admin", "another", expires_at=clock.after(DAY))
    tokens.revoke(1)
    assert "every admin token will expire, the last one at 2" in caplog.text


def test_a_rotated_token_has_the_rights_of_the_old_one(tokens: Tokens, clock: Clock) -> None:
    old, old_text = tokens.make("site", "the nurse", site="Leeds", expires_at=clock.after(90 * DAY))
    clock.offset = 80 * DAY.total_seconds()
    new, text = tokens.rotate(old.id, overlap=timedelta(hours=1))
    assert (new.role, new.site, new.trial, new.label) == (old.role, old.site, old.trial, old.label)
    assert new.expires_at is not None
    life = datetime.fromisoformat(new.expires_at) - datetime.fromisoformat(new.made_at)
    assert abs(life - 90 * DAY) < timedelta(seconds=5)
    assert tokens.find(old_text.encode()) is not None
    clock.offset += 3601
    assert (tokens.find(old_text.encode()), tokens.find(text.encode())) == (None, new)


def test_without_an_overlap_the_old_one_ends_at_once(tokens: Tokens) -> None:
    first = tokens.make_first()
    assert first is not None
    new, text = tokens.rotate(1)
    assert (tokens.find(first.encode()), tokens.find(text.encode()), new.expires_at) == (None, new, None)
    with pytest.raises(ConflictError, match="only a valid one can be rotated"):
        tokens.rotate(1)
    with pytest.raises(UnknownError, match="token: got 99"):
        tokens.rotate(99)
    for wrong in (timedelta(seconds=-1), timedelta(days=31)):
        with pytest.raises(InputError, match="overlap"):
            tokens.rotate(2, overlap=wrong)


def test_an_overlap_makes_no_token_live_longer(tokens: Tokens, clock: Clock) -> None:
    old, text = tokens.make("statistician", "Ada", expires_at=clock.after(timedelta(hours=1)))
    tokens.rotate(old.id, overlap=DAY)
    clock.offset = 3601
    assert tokens.find(text.encode()) is None


def test_the_last_use_is_kept(tokens: Tokens, clock: Clock) -> None:
    text = tokens.make_first()
    assert text is not None
    tokens.make("statistician", "never used")
    tokens.find(text.encode())
    seen = datetime.fromtimestamp(clock(), UTC)
    clock.offset = 100.0  # written later, with the time of the use
    tokens.write_last_use()
    used, unused = tokens.all()
    assert used.last_used_at is not None
    assert abs(datetime.fromisoformat(used.last_used_at) - seen) < timedelta(seconds=2)
    assert unused.last_used_at is None


def _line(service: Service, number: int) -> dict[str, Any]:
    return next(line.to_dict() for line in service.client().tokens() if line.id == number)


def test_over_http(lasting_store: Store) -> None:
    with in_thread(lasting_store, ServiceSettings(last_use_every=0.1)) as service:
        soon = datetime.now(UTC) + timedelta(seconds=2)
        made = service.client().make_token("statistician", "Ada", expires_at=soon)
        service.tokens["short"] = made.token
        assert service.send("GET", "/trials", role="short").status == 200
        assert _line(service, made.id)["status"] == "valid"
        wait_until(lambda: "last_used_at" in _line(service, made.id))
        wait_until(lambda: service.send("GET", "/trials", role="short").status == 401)
        refused = service.send("GET", "/trials", role="short")
        assert refused.json["detail"] == "this token has expired"
        assert _line(service, made.id)["status"] == "expired"
        bad = service.send("POST", "/tokens", {"role": "admin", "label": "x", "expires_at": "2001-01-01T00:00:00Z"})
        assert (bad.status, bad.json["field"]) == (422, "expires_at")
        new = service.client().rotate_token(1, overlap=timedelta(hours=1))
        service.tokens["new"] = new.token
        assert service.send("GET", "/tokens", role="new").status == 200
        assert (_line(service, 1)["status"], "expires_at" in _line(service, 1)) == ("valid", True)
        newer = service.client().rotate_token(new.id)
        assert service.send("GET", "/tokens", role="new").status == 401
        assert _line(service, new.id)["status"] == "revoked"
        assert newer.label == "the first admin"
        assert service.send("POST", f"/tokens/{new.id}/rotation", {}).status == 409
        assert service.send("POST", "/tokens/99/rotation", {}).status == 404


@pytest.fixture(params=["sqlite", "postgres"])
def lasting_store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    where = tmp_path / "trials.db" if request.param == "sqlite" else request.getfixturevalue("database_url")
    return open_store(where)
