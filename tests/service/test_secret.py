"""The secret of a live trial over HTTP: no answer, page, export, metric or log line has it before its reveal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from adhere.errors import ConflictError
from adhere.service.api.requests import NewReport, NewUnblinding
from adhere.service.api.route import ADMIN, ALL_ROLES, METRICS, STATISTICIAN
from adhere.service.pages.routes import PAGES, ROUTES
from adhere.trial.secret.trial_secret import commitment_to, id_key, kit_key
from cli.running import in_this_process
from service.pages.forms import forms_of
from service.pages.person import sign_in
from service.serving import Service, in_file, path_of, spellings
from service.test_roles import BODIES

ARMS = ("verum-xyz", "placebo-xyz")
NUMBERED = re.compile("{token}|{simulation}")
FORMATS = {"export": ("csv", "parquet", "log"), "analysis": ("html", "json")}


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Service]:
    """A service with no other trial."""
    with in_file(tmp_path / "trials.db") as running:
        yield running


def written_of(service: Service, trial: str) -> list[bytes]:
    """The secret of a trial and what is derived from it alone, each as it might be written."""
    secret = service.secret(trial)
    return [text for key in (secret, kit_key(secret), id_key(secret)) for text in spellings(key)]


def everything_said(service: Service, trial: str) -> bytes:
    """All answers of the API to all roles, with their headers, and all pages and answers to their forms."""
    made = service.ids(trial)[0]
    kit = service.client().recommendation(trial, made).kit or "0000-0000"
    bodies: dict[type[Struct], dict[str, Any]] = {
        **BODIES,
        NewUnblinding: {"kit": kit, "reason": "an emergency"},
        NewReport: {"actual": kit, "reward": 1},
    }
    said: list[bytes] = []
    for role in sorted(ALL_ROLES):
        for route in ROUTES:
            if route.path.startswith(("/tokens", "/simulations")):
                continue
            path, body = path_of(route, trial, made), bodies[route.body] if route.body is not None else None
            for form in FORMATS.get(path.rpartition("/")[2], ("",)):
                reply = service.send(route.method, f"{path}?format={form}" if form else path, body, role=role)
                said += [reply.body, repr(reply.headers).encode()]
                assert form == "" or reply.status == (200 if role in (ADMIN, STATISTICIAN) else 403)
        if role == METRICS:
            continue
        person = sign_in(service, role)
        for page in PAGES:
            if page.method == "GET" and not page.public and not NUMBERED.search(page.path):
                shown = person.get(path_of(page, trial, made))
                said += [shown.body, repr(shown.headers).encode()]
                said += [
                    person.send(form.action, {**form.fields, "change": "reveal"}).body
                    for form in (forms_of(shown.body.decode()) if b"<form" in shown.body else [])
                    if not form.action.startswith(("/app/sign-out", "/app/access", "/app/new-trial"))
                ]
    return b"".join(said)


@pytest.mark.slow
@pytest.mark.parametrize("blinded", [pytest.param(False, marks=pytest.mark.slow), True])
def test_nobody_is_told_the_secret_before_it_is_revealed(
    alone: Service, blinded: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    trial = alone.new_trial(arms=ARMS, blinded=blinded)
    first = alone.client("site").recommend(trial, "S-1")
    alone.client("site").recommend(trial, "S-2")
    while_open = everything_said(alone, trial)
    assert alone.client().trials()[trial] == "open"
    alone.client().end_trial(trial, "done", accept_open=True)
    while_closed = everything_said_without_reveal(alone, trial)
    told = while_open + while_closed + caplog.text.encode()
    for sign in (
        first.id.encode(),
        b"adhere_commits_total",
        ARMS[0].encode(),
        commitment_to(alone.secret(trial)).encode(),
    ):
        assert sign in told  # it was looked at
    assert (first.kit or first.arm or "").encode() in told
    assert [text for text in written_of(alone, trial) if text in told] == []
    assert alone.client().verify(trial).secret == "kept"
    alone.client().reveal(trial, "the analysis is done")
    assert alone.secret(trial).hex().encode() in alone.send("GET", f"/trials/{trial}/export?format=log").body


def everything_said_without_reveal(service: Service, trial: str) -> bytes:
    """All reads of all roles of a trial that is closed: a form or request might reveal its secret."""
    made, said = service.ids(trial)[0], []
    for role in sorted(ALL_ROLES):
        for route in ROUTES:
            if route.method == "GET" and not NUMBERED.search(route.path):
                path = path_of(route, trial, made)
                for form in FORMATS.get(path.rpartition("/")[2], ("",)):
                    said.append(service.send("GET", f"{path}?format={form}" if form else path, role=role).body)
        if role != METRICS:
            person = sign_in(service, role)
            pages = [
                page for page in PAGES if page.method == "GET" and not page.public and not NUMBERED.search(page.path)
            ]
            said += [person.get(path_of(page, trial, made)).body for page in pages]
    return b"".join(said)


def test_an_admin_reveals_it_once_the_trial_is_closed(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = service.new_trial(blinded=True)
    site, admin = service.client("site"), service.client()
    for number in range(5):
        made = site.recommend(trial, f"S-{number}")
        site.report(trial, made.id, actual=made.kit, reward=number % 2)
    path, body = f"/trials/{trial}/reveal", {"reason": "the last outcome was assessed"}
    for paused in (False, True):
        if paused:
            admin.pause(trial, "recruitment ends")
        records = admin.trial(trial).records
        reply = service.send("POST", path, body)
        assert (reply.status, reply.json["detail"]) == (
            409,
            f"trial {trial!r} is not closed: its secret would disclose future arms. Close it first",
        )
        assert admin.trial(trial).records == records
    admin.end_trial(trial, "as planned")
    for role in sorted(ALL_ROLES - {ADMIN}):
        assert service.send("POST", path, body, role=role).status == 403
    assert service.send("POST", path, {"reason": ""}).json["field"] == "reason"
    assert (admin.verify(trial).secret, admin.trial(trial).revealed) == ("kept", False)
    done = service.send("POST", path, body, key="once")
    assert done.status == 201
    assert service.send("POST", path, body, key="once").body == done.body
    with pytest.raises(ConflictError, match="was already revealed"):
        admin.reveal(trial, "again")
    assert done.json.keys() == {"at", "record"}
    assert (admin.verify(trial).secret, admin.trial(trial).revealed) == ("revealed", True)
    log = tmp_path / "trial.log"
    admin.export(trial, log)
    assert revealed_in(log)["secrets"] == [service.secret(trial).hex()]
    said = in_this_process(capsys, "trial", "replay", str(log)).out
    assert "5 recommendations derived again, arm and probabilities, all the same" in said


def revealed_in(log: Path) -> dict[str, Any]:
    """The record of an exported log that reveals its secret."""
    lines = [json.loads(text) for text in log.read_text().splitlines()]
    bodies = [json.loads(line["body"]) for line in lines if "body" in line]
    found: dict[str, Any]
    (found,) = [body for body in bodies if body["event"] == "revealed"]
    return found
