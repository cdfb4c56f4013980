"""The nginx site before a service with the settings of deploy/, end to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from adhere.access.tokens import Tokens
from adhere.client import ServiceError
from adhere.service.settings_sources import read_settings
from adhere.store import open_store
from deploy.nginx import SITE, Nginx, before
from service.both_clients import BOTH, MakeClient
from service.serving import Service, in_thread

ATTACKER, HOSPITAL = "127.0.0.2", "127.0.0.3"


@dataclass(frozen=True)
class Site:
    nginx: Nginx
    service: Service


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("nginx")
    shipped = read_settings({}, SITE.with_name("settings.toml"), {}).settings
    settings = replace(shipped, failure_rate=0.01, failure_burst=3)
    with in_thread(open_store(folder / "trials.db"), settings) as service, before(service.port, folder) as nginx:
        yield Site(nginx, service)


def test_a_trial_through_it(site: Site) -> None:
    who = {"Authorization": f"Bearer {site.service.admin}"}
    design = {"name": "t", "policy": "uniform", "arms": ["walk", "aspirin"]}
    assert site.nginx.send("POST", "/adhere/trials", design, **who).status == 201
    made = site.nginx.send(
        "POST", "/adhere/trials/t/recommendations", {"subject": "S-1"}, **who, Idempotency_Key="first"
    )
    assert (made.status, [made.json["recommendation_id"]]) == (201, site.service.ids("t"))
    assert made.headers["strict-transport-security"] == "max-age=31536000"
    assert site.nginx.send("GET", "/adhere/openapi.json").json["servers"] == [{"url": "/adhere"}]


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_the_clients_through_it(site: Site, monkeypatch: pytest.MonkeyPatch, make: MakeClient) -> None:
    address = f"https://127.0.0.1:{site.nginx.port}/adhere"
    with make(address, site.service.admin) as stranger, pytest.raises(ServiceError, match="certificate"):
        stranger.tokens()
    monkeypatch.setenv("SSL_CERT_FILE", str(site.nginx.certificate))
    with make(address, site.service.admin) as client:
        assert client.tokens()


def test_bad_tokens_of_one_client_do_not_lock_another_out(site: Site) -> None:
    def ask(source: str, token: str, **headers: str) -> int:
        who = {"Authorization": f"Bearer {token}", **headers}
        return site.nginx.send("GET", "/adhere/trials", source=source, **who).status

    assert [ask(ATTACKER, "adh_bad") for _ in range(4)] == [401, 401, 401, 429]
    assert ask(ATTACKER, "adh_bad", X_Forwarded_For="192.0.2.1") == 429  # what a client says of itself does not count
    assert site.service.store is not None
    _, unknown_so_far = Tokens(site.service.store).make("statistician", "made by another process")
    assert ask(HOSPITAL, unknown_so_far) == 200


@pytest.mark.parametrize("path", ["/adhere/metrics", "/adhere/%6detrics", "/adhere//metrics", "/adhere/./metrics"])
def test_metrics_are_not_served_outside(site: Site, path: str) -> None:
    reply = site.nginx.send("GET", path, Authorization=f"Bearer {site.service.admin}")
    assert (reply.status, reply.headers["server"].partition("/")[0]) == (404, "nginx")
    assert site.service.send("GET", "/metrics").status == 200


def test_what_is_refused_before_it_reaches_the_service(site: Site) -> None:
    who = {"Authorization": f"Bearer {site.service.admin}"}
    large = site.nginx.send("POST", "/adhere/trials", {"name": "x" * 70_000}, **who)
    assert (large.status, large.headers["server"].partition("/")[0]) == (413, "nginx")
    assert site.nginx.send("GET", "/trials", **who).status == 404
    plain = site.nginx.send_plain("/adhere/healthz")
    assert (plain.status, plain.headers["location"]) == (301, "https://127.0.0.1/adhere/healthz")
