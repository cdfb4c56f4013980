"""Things that are found again: a simulation whose page was left, and its way to an end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from service.serving import Service, in_file, wait_until

from .person import sign_in
from .visitor import assert_fits, visiting

DESIGN = {"name": "left alone", "policy": "uniform", "arms": ["walk", "aspirin"], "n_patients": 2_000}


@pytest.fixture
def service(tmp_path: Any) -> Iterator[Service]:
    with in_file(tmp_path / "trials.db") as running:
        yield running


@pytest.mark.parametrize("path", ["/app/trials", "/app/new-trial"])
def test_a_simulation_whose_page_was_left_is_found_and_stopped(browser: Any, service: Service, path: str) -> None:
    started = service.client("statistician").start_simulation(DESIGN, {"effect": [0.2]}, n_trials=3_000)
    said = "Your simulation of left alone is "
    with visiting(browser, service, "statistician") as visitor:
        page = visitor.page
        visitor.open(path)
        assert page.get_by_text(said).count() == 1
        assert visitor.axe_issues() == []
        assert_fits(visitor)
        page.get_by_role("link", name="See how far it is").click()
        page.wait_for_url(f"**/app/simulations/{started.id}")
        assert page.get_by_role("heading", name="How would left alone behave?").count() == 1
        visitor.open(path)
        page.get_by_role("button", name="Stop the simulation of left alone").click()
        page.get_by_text("Stopped.").wait_for()
        assert visitor.faults == []
    wait_until(lambda: service.client("statistician").simulation(started.id).state == "stopped")
    listed = sign_in(service, "statistician").get(path).body.decode()
    assert ("is running" in listed, "was stopped" in listed) == (False, path == "/app/new-trial")
    assert said.encode() not in sign_in(service, "admin").get(path).body  # it is not theirs
    assert said.encode() not in sign_in(service, "site").get("/app/trials").body


def test_sites_do_not_see_explore(service: Service) -> None:
    site, coordinator = sign_in(service, "site"), sign_in(service, "coordinator")
    assert b">Explore<" not in site.get("/app/trials").body
    assert site.get("/app/explore").status == 403
    assert service.send("GET", "/explorations?runs=1&patients=10", role="site").status == 403
    assert b">Explore<" in coordinator.get("/app/trials").body
