"""Behind a proxy: the client's own address counts, and a path of its own comes before all others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from adhere.access.tokens import Tokens
from adhere.errors import InputError
from adhere.service.http.addresses import TrustedProxies
from adhere.service.serve import serve
from adhere.service.settings import ServiceSettings
from adhere.store import open_store
from service.serving import Service, in_thread

FEW = ServiceSettings(failure_rate=0.01, failure_burst=3)


def _use_up(service: Service, address: str) -> list[int]:
    """What requests with bad tokens from an address get."""
    return [_ask(service, address, "adh_bad") for _ in range(5)]


def _ask(service: Service, address: str, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": address}
    return service.send("GET", "/trials", role=None, headers=headers).status


@pytest.fixture
def behind_proxy(tmp_path: Path) -> Iterator[Service]:
    settings = ServiceSettings(failure_rate=0.01, failure_burst=3, trusted_proxies=("127.0.0.0/8",))
    with in_thread(open_store(tmp_path / "trials.db"), settings) as service:
        yield service


def test_bad_tokens_from_one_address_do_not_lock_another_out(behind_proxy: Service) -> None:
    assert _use_up(behind_proxy, "192.0.2.1") == [401, 401, 401, 429, 429]
    assert behind_proxy.store is not None
    _, elsewhere = Tokens(behind_proxy.store).make("statistician", "made elsewhere, not yet known to the service")
    assert _ask(behind_proxy, "192.0.2.2", elsewhere) == 200


def test_good_tokens_that_are_new_here_use_up_nothing(behind_proxy: Service) -> None:
    assert behind_proxy.store is not None
    elsewhere = Tokens(behind_proxy.store)
    made = [elsewhere.make("statistician", "made elsewhere")[1] for _ in range(6)]
    for number, token in enumerate(made):
        behind_proxy.send("GET", "/trials")
        assert _ask(behind_proxy, "192.0.2.1", token) == 200, number
        _, another = elsewhere.make("statistician", "made elsewhere, a moment later")
        assert _ask(behind_proxy, "192.0.2.1", another) == 200, number


def test_a_network_of_ipv6_has_one_budget(behind_proxy: Service) -> None:
    sent = [_ask(behind_proxy, f"2001:db8::{number}", "adh_bad") for number in range(1, 6)]
    assert sent == [401, 401, 401, 429, 429]
    assert _ask(behind_proxy, "2001:db8:0:1::1", "adh_bad") == 401


def test_a_client_cannot_choose_its_address(behind_proxy: Service, tmp_path: Path) -> None:
    sent = [_ask(behind_proxy, f"10.0.0.{number}, 192.0.2.1", "adh_bad") for number in range(5)]
    assert sent == [401, 401, 401, 429, 429]
    with in_thread(open_store(tmp_path / "direct.db"), FEW) as direct:
        assert [_ask(direct, f"192.0.2.{number}", "adh_bad") for number in range(5)] == [401, 401, 401, 429, 429]


@pytest.mark.parametrize(
    ("peer", "lines", "client"),
    [
        ("127.0.0.1", [], "127.0.0.1"),
        ("192.0.2.9", ["198.51.100.1"], "192.0.2.9"),
        ("127.0.0.1", ["198.51.100.1, 10.0.0.5"], "198.51.100.1"),
        ("127.0.0.1", ["198.51.100.1", "192.0.2.7"], "192.0.2.7"),
        ("127.0.0.1", ["10.0.0.6, 10.0.0.5"], "10.0.0.6"),
        ("127.0.0.1", ["unknown, 10.0.0.5"], "10.0.0.5"),
        ("127.0.0.1", ["nonsense"], "127.0.0.1"),
        ("127.0.0.1", [""], "127.0.0.1"),
        ("::1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("::ffff:127.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
    ],
)
def test_the_last_hop_that_is_no_proxy_is_the_client(peer: str, lines: list[str], client: str) -> None:
    proxies = TrustedProxies(["127.0.0.1", "::1", "10.0.0.0/8"])
    headers = [(b"host", b"x"), *((b"x-forwarded-for", line.encode()) for line in lines)]
    assert proxies.client(peer, headers) == client


@pytest.fixture(scope="module")
def under_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    settings = ServiceSettings(root_path="/a/b", cors_origins=("https://trial.example.org",))
    with in_thread(open_store(tmp_path_factory.mktemp("under") / "trials.db"), settings) as service:
        yield service


@pytest.mark.parametrize("path", ["/a/b/trials", "/trials", "/a/b/docs"])
def test_a_root_path_may_be_passed_on_or_removed(under_path: Service, path: str) -> None:
    assert under_path.send("GET", path).status == 200


@pytest.mark.parametrize("path", ["/a/b", "/a/btrials", "/a/trials", "/a/b/a/b/trials", "/a%2Fb/trials"])
def test_other_paths_are_unknown(under_path: Service, path: str) -> None:
    assert under_path.send("GET", path).status == 404


def test_the_openapi_document_and_the_start_have_the_root_path(under_path: Service) -> None:
    for path in ("/a/b/", "/"):
        assert under_path.send("GET", path, role=None).json["docs"] == "/a/b/docs"
    assert under_path.send("GET", "/a/b/openapi.json").json["servers"] == [{"url": "/a/b"}]


def test_a_root_path_that_hides_a_route_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="root_path: got '/trials/x', expected a path that begins with none of"):
        serve(ServiceSettings(root_path="/trials/x", data=str(tmp_path / "trials.db")))
    assert not list(tmp_path.iterdir())


def test_pages_of_allowed_origins_may_use_the_service(under_path: Service) -> None:
    origin = {"Origin": "https://trial.example.org"}
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,idempotency-key",
    }
    preflight = under_path.send("OPTIONS", "/trials", role=None, headers={**origin, **asked})
    assert preflight.status == 200
    assert preflight.headers["access-control-allow-origin"] == "https://trial.example.org"
    assert "idempotency-key" in preflight.headers["access-control-allow-headers"].lower()
    reply = under_path.send("GET", "/trials", headers=origin)
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, "https://trial.example.org")
    assert "access-control-allow-credentials" not in reply.headers
    refused = under_path.send("GET", "/trials", role=None, headers=origin)
    assert (refused.status, refused.headers["access-control-allow-origin"]) == (401, "https://trial.example.org")


def test_pages_of_other_origins_may_not(under_path: Service, service: Service) -> None:
    origin = {"Origin": "https://elsewhere.example.org"}
    asked = {"Access-Control-Request-Method": "POST"}
    assert under_path.send("OPTIONS", "/trials", role=None, headers={**origin, **asked}).status == 400
    for one in (under_path, service):
        assert "access-control-allow-origin" not in one.send("GET", "/trials", headers=origin).headers
