"""A live trial with looks over HTTP: strata, a dropped arm, a stop recommended and confirmed; nothing for sites."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

from adhere.design.parts import Looks, Stopping
from adhere.errors import ConflictError, InputError
from adhere.service.settings import ServiceSettings
from adhere.store import open_store
from cli.running import in_this_process
from service.serving import Service, in_file, wait_until
from trial.live import Live

ARMS = ("placebo-xyz", "low-xyz", "high-xyz")
GAIN = {"placebo-xyz": 40, "low-xyz": 2, "high-xyz": 1}
STOPPING = {"by": "posterior", "superiority": 0.99, "inferiority": 0.02}
DESIGN: dict[str, Any] = {
    "policy": "burn-in(uniform, patients=12)", "arms": ARMS, "n_patients": 120, "strata": ("young", "old"),
    "looks": {"every": 12}, "stopping": STOPPING, "blinded": True,
}  # fmt: skip


def play_until_stop(service: Service, trial: str) -> list[bytes]:
    """Patients of one site until a look recommends to stop; everything that the site was told."""
    told, seen = [], dict.fromkeys(ARMS, 0)
    site, statistician = service.client("site"), service.client("statistician")
    for number in range(120):
        body = {"subject": f"S-{number}", "stratum": ("young", "old")[number % 2]}
        made = service.send("POST", f"/trials/{trial}/recommendations", body, role="site")
        told.append(made.body)
        kit = made.json["kit"]
        arm = _arm_in(service, trial, made.json["recommendation_id"])
        seen[arm] += 1
        reply = service.send(
            "POST",
            f"/trials/{trial}/recommendations/{made.json['recommendation_id']}/reports",
            {"actual": kit, "reward": float(seen[arm] % GAIN[arm] == 0)},
            role="site",
        )
        told += [reply.body, service.send("GET", f"/trials/{trial}", role="site").body]
        if statistician.trial(trial).recommended_stop is not None:
            break
    told.append(json.dumps(_listed(service, trial, "site")).encode())
    assert site.trial(trial).last_look is None
    return told


def metrics(service: Service, trial: str) -> dict[str, float]:
    """What is told of a trial."""
    lines = service.send("GET", "/metrics", role="metrics").body.decode().splitlines()
    own = [line.split(f'{{trial="{trial}"}} ') for line in lines if f'trial="{trial}"' in line]
    return {name: float(value) for name, value in own if "_created" not in name}


def _listed(service: Service, trial: str, role: str) -> dict[str, Any]:
    """The line of a trial in the list; other tests have theirs in the same service."""
    lines = service.send("GET", "/trials", role=role).json["trials"]
    return next(line for line in lines if line["name"] == trial)


def _arm_in(service: Service, trial: str, recommendation_id: str) -> str:
    derivation = service.client("statistician").recommendation(trial, recommendation_id).derivation
    assert derivation is not None
    return derivation.arm


def test_a_trial_with_looks_from_its_design_to_the_stop_that_is_confirmed(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "adhere.service")
    trial = service.new_trial(**DESIGN)
    admin, statistician, site = (service.client(role) for role in ("admin", "statistician", "site"))
    with pytest.raises(InputError, match="stratum: expected one of young, old, and none was given"):
        site.recommend(trial, "S-none")
    told = b"".join(play_until_stop(service, trial))
    shown = statistician.trial(trial)
    assert shown.last_look == shown.recommended_stop
    looks = statistician.looks(trial)
    # It is said where an operator or a statistician looks, and not for which arm.
    logged = [record.getMessage() for record in caplog.records if trial in record.getMessage()]
    assert logged == [f"trial {trial!r}: look {len(looks)} recommends to stop; a person decides"]
    assert metrics(service, trial) == {"adhere_looks_total": len(looks), "adhere_stop_recommended": 1}
    assert shown.recommended_stop is not None
    for role in ("statistician", "admin", "site"):
        stop = _listed(service, trial, role).get("recommended_stop", {})
        assert stop.get("look") == (None if role == "site" else len(looks))
    assert [look.look for look in looks] == list(range(1, len(looks) + 1))
    assert [look.outcomes for look in looks] == [12 * look.look for look in looks]
    assert [look.decision for look in looks] == ["go on"] * (len(looks) - 1) + ["superior"]
    assert looks[-1].selected == "high-xyz"
    assert {name: (one.of, one.at_least, one.at_most) for name, one in looks[-1].thresholds.items()} == {
        "superiority": ("probability of being best", 0.99, None),
        "inferiority": ("probability of being best", None, 0.02),
    }
    assert looks[-1].arms[2].values.keys() == {"probability of being best"}
    dropped = next(look for look in looks if "inferior" in [one.status for one in look.arms])
    assert dropped.look < len(looks)
    assert [one.arm for one in dropped.arms if one.status == "inferior"] == ["placebo-xyz"]
    # A site hears of strata, and of nothing that a look found.
    assert shown.recommended_stop is not None
    for word in (b"xyz", b"look", b"superior", b"inferior", b"stop"):
        assert word not in told
    assert service.send("GET", f"/trials/{trial}/looks", role="site").status == 403
    assert [row.kind for row in admin.accesses(trial)].count("looks") == 1
    # It goes on until a person ends it.
    made = site.recommend(trial, "S-after", stratum="old")
    assert site.recommendation(trial, made.id).stratum == "old"
    with pytest.raises(ConflictError, match="1 recommendation with no report"):
        admin.end_trial(trial, "superior at a look, as the data monitoring committee confirmed")
    site.report(trial, made.id, actual=made.kit, reward=1)
    admin.end_trial(trial, "superior at a look, as the data monitoring committee confirmed")
    assert statistician.trial(trial).status == "closed"
    assert metrics(service, trial)["adhere_stop_recommended"] == 0
    assert "recommended_stop" not in _listed(service, trial, "admin")
    log = tmp_path / "trial.log"
    admin.export(trial, log)
    for command, said in (
        ("verify", "all as they were written"),
        ("replay", f"{len(looks)} looks derived again, all the same"),
        ("verify", f"{len(looks)} looks, each where the design has it; what they found derived again, all the same"),
        ("looks", f"Look {len(looks)} recommended to stop: superior, with high-xyz. The trial is closed."),
        ("looks", " (superiority from 0.99, inferiority up to 0.02)"),
    ):
        result = in_this_process(capsys, "trial", command, str(log))
        assert said in result.out, result
    as_json = json.loads(in_this_process(capsys, "trial", "looks", str(log), "--json").out)
    assert as_json == [look.to_dict() for look in looks]


def test_a_stop_is_told_after_a_restart_and_not_in_metrics_that_are_open_to_all(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    live = Live(
        "thompson", n_patients=8, looks=Looks(at=(2,)), store=open_store(path),
        stopping=Stopping(by="posterior", superiority=0.6),
    )  # fmt: skip
    for number in range(2):
        made = live.recommend(f"s{number}")
        live.report(made.recommendation_id, reward=float(made.arm == "walk"))
    live.store.close()
    copy = shutil.copy(path, tmp_path / "copy.db")
    with in_file(path) as service:
        wait_until(lambda: metrics(service, "t").get("adhere_stop_recommended") == 1)
    with in_file(Path(copy), ServiceSettings(metrics_open=True)) as opened:
        wait_until(lambda: opened.send("GET", "/readyz", role=None).status == 200)
        for number in range(2, 8):
            opened.client().report("t", opened.client().recommend("t", f"s{number}", site="Leeds").id, reward=1)
        assert len(opened.client("statistician").looks("t")) == 2
        assert metrics(opened, "t") == {}
