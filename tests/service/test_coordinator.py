"""What a coordinator sees: who is enrolled and what waits, of all sites; no outcome, no arm, no count by arm."""

from __future__ import annotations

from pathlib import Path

from service.serving import Service, in_file


def test_a_coordinator_sees_of_a_trial_what_a_site_does(service: Service) -> None:
    for design in ({"n_patients": 9}, {"blinded": True}):
        trial = service.new_trial(**design)
        seen = service.send("GET", f"/trials/{trial}", role="coordinator")
        assert seen.body == service.send("GET", f"/trials/{trial}", role="site").body
        assert not {"policy", "head", "n_patients", "looks"} & seen.json.keys()
    assert [row.label for row in service.client().accesses(trial)] == ["the first admin"]  # who created it


def test_a_coordinator_is_not_told_of_a_recommended_stop(tmp_path: Path) -> None:
    with in_file(tmp_path / "trials.db") as service:  # which then has a stop in its metrics
        _stop_is_for_some_only(service)


def _stop_is_for_some_only(service: Service) -> None:
    stops = {"by": "posterior", "superiority": 0.6}
    trial = service.new_trial(policy="uniform", n_patients=9, looks={"at": [1]}, stopping=stops)
    site = service.client("site")
    site.report(trial, site.recommend(trial, "S-1").id, took_nothing=True, reward=1)

    def stop(role: str) -> object:
        lines = service.send("GET", "/trials", role=role).json["trials"]
        return next(line for line in lines if line["name"] == trial).get("recommended_stop")

    assert stop("statistician") is not None
    assert stop("coordinator") is None
