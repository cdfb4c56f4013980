"""The monitor over HTTP: who may see it, that it follows the log, and the analysis as a file."""

from __future__ import annotations

import json

from .serving import Service


def test_a_monitor_follows_the_log_and_is_written_down(service: Service) -> None:
    trial = service.new_trial(policy="thompson")
    path = f"/trials/{trial}/monitor"
    before = service.send("GET", path, role="statistician").json
    assert before["recommendations"] == 0
    given = service.client("site").recommend(trial, "S-1")
    service.client("site").report(trial, given.id, actual=given.arm, reward=1)
    after = service.send("GET", path, role="statistician").json
    assert (after["recommendations"], after["outcomes"], after["waiting"]) == (1, 1, 0)
    assert after["head"] == service.send("GET", f"/trials/{trial}").json["head"] != before["head"]
    rows = [row for row in service.client().accesses(trial) if row.kind == "monitor"]
    assert [row.count for row in rows] == [2]


def test_a_site_and_a_coordinator_see_no_monitor(service: Service) -> None:
    trial = service.new_trial(policy="thompson")
    for what in ("monitor", "analysis"):
        for role in ("site", "coordinator"):
            assert service.send("GET", f"/trials/{trial}/{what}", role=role).status == 403


def test_the_analysis_is_a_page_in_one_file_or_json(service: Service) -> None:
    trial = service.new_trial(policy="thompson")
    service.client("site").recommend(trial, "S-1")
    page = service.send("GET", f"/trials/{trial}/analysis", role="statistician")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-disposition"].startswith("attachment")
    assert trial.encode() in page.body
    found = service.send("GET", f"/trials/{trial}/analysis?format=json", role="statistician")
    assert json.loads(found.body)["head"] == found.headers["x-adhere-head"]
    assert service.send("GET", f"/trials/{trial}/analysis?format=pdf").status == 422
