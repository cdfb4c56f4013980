"""Authentication, rate limits and revoked tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from adhere.access.tokens import Tokens
from adhere.errors import ConflictError
from adhere.service.settings import ServiceSettings
from adhere.store import open_store
from service.serving import Service, in_file, in_thread, wait_until


@pytest.mark.parametrize(
    "given",
    ["", "adh_", "Bearer", "Bearer ", "Bearer adh_wrong", "Basic YTpi", "Bearer \xff", f"Bearer {'x' * 5000}"],
)
def test_without_a_token_nothing_is_told(service: Service, given: str) -> None:
    reply = service.send("GET", "/trials", role=None, headers={"Authorization": given})
    assert reply.status == 401
    assert reply.headers["www-authenticate"] == "Bearer"
    assert reply.json["field"] == "Authorization"


def test_the_scheme_may_be_written_in_any_case(service: Service) -> None:
    headers = {"Authorization": f"bEARER {service.admin}"}
    assert service.send("GET", "/trials", role=None, headers=headers).status == 200


def test_a_store_keeps_digests_only(tmp_path: Path) -> None:
    store = open_store(tmp_path / "trials.db")
    tokens = Tokens(store)
    text = tokens.make_first()
    assert text is not None
    assert tokens.make_first() is None
    store.close()
    assert text.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_the_last_admin_cannot_be_locked_out(tmp_path: Path) -> None:
    with in_file(tmp_path / "trials.db") as service:
        admin = service.client()
        (first,) = [line.id for line in admin.tokens()]
        with pytest.raises(ConflictError, match="the only valid one of an admin"):
            admin.revoke_token(first)
        service.tokens["second"] = admin.make_token("admin", "another").token
        admin.revoke_token(first)
        assert service.send("GET", "/trials").status == 401
        assert service.send("GET", "/trials", role="second").status == 200


def test_tokens_made_and_revoked_elsewhere_are_noticed(tmp_path: Path) -> None:
    store = open_store(tmp_path / "trials.db")
    with in_thread(store, ServiceSettings(refresh_every=0.05)) as service:
        elsewhere = Tokens(store)  # as another process on the same PostgreSQL would
        token, text = elsewhere.make("statistician", "made elsewhere")
        service.tokens["elsewhere"] = text
        wait_until(lambda: service.send("GET", "/trials", role="elsewhere").status == 200)
        elsewhere.revoke(token.id)
        wait_until(lambda: service.send("GET", "/trials", role="elsewhere").status == 401)


def test_rate_limits(tmp_path: Path) -> None:
    settings = ServiceSettings(token_rate=0.2, token_burst=3, failure_rate=0.2, failure_burst=2)
    with in_file(tmp_path / "trials.db", settings) as service:
        replies = [service.send("GET", "/trials") for _ in range(4)]
        assert [reply.status for reply in replies] == [200, 200, 200, 429]
        assert 1 <= int(replies[-1].headers["retry-after"]) <= 5
        assert replies[-1].json["type"] == "urn:adhere:problem:too-many"
        failures = [service.send("GET", "/trials", role=None) for _ in range(3)]
        assert [reply.status for reply in failures] == [401, 401, 429]
        assert service.send("GET", "/healthz", role=None).status == 200
