"""Who saw the allocation: every answer that reveals an arm is in the access log before it is sent."""

from __future__ import annotations

import io
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adhere.errors import ConflictError
from adhere.service.api import accesses
from adhere.service.api.queries import WHOLE_NUMBER, Choice
from adhere.service.api.requests import NewTrial
from adhere.service.api.route import Route
from adhere.service.pages.routes import ROUTES
from adhere.store import StoreError, open_store
from cli.running import check_complaint, in_this_process
from service.pages.person import sign_in
from service.serving import Reply, Service, in_thread, path_of
from service.test_roles import BODIES
from slow import slow

ARMS = ("verum-xyz", "placebo-xyz")


def blinded_trial(service: Service) -> tuple[str, str]:
    """A blinded trial with one recommendation, and the ID of that."""
    name = f"blinded-{uuid.uuid4().hex[:12]}"
    service.client().create_trial(name, "thompson/actual", ARMS, blinded=True)
    return name, service.client("site").recommend(name, "S-1").id


def n_reads(service: Service) -> int:
    """How many reads the access log counts."""
    assert service.store is not None
    with service.store.reading() as view:
        return int(view.run("SELECT sum(n) FROM accesses").fetchone()[0] or 0)


def asked(service: Service, route: Route, role: str, trial: str, recommendation_id: str) -> Iterator[Reply]:
    """The answers of a route to a role, one for each of its formats."""
    path = path_of(route, trial, recommendation_id)
    body = BODIES[route.body] if route.body is not None else None
    if route.body is NewTrial:
        body = {"name": trial, "policy": "thompson/actual", "arms": ARMS, "blinded": True}
    # Numbers and texts of one's own, as of an exploration, choose no format.
    formats = [(name, one.values) for name, one in route.query if isinstance(one, Choice)]
    formats += [(name, ("0",)) for name, one in route.query if one is WHOLE_NUMBER]
    for name, values in formats or [("", ("",))]:
        for value in values:
            yield service.send(route.method, f"{path}?{name}={value}" if name else path, body, role=role)


def reveals(reply: Reply) -> bool:
    """Whether an answer has an arm's name or a probability in it."""
    text = reply.body.decode("utf-8", "replace")
    if "parquet" in reply.headers.get("content-type", ""):
        text = pl.read_parquet(io.BytesIO(reply.body)).write_csv()
    return "-xyz" in text or re.search(r'probabilities"|"p\b', text) is not None


@pytest.mark.parametrize("role", ["site", slow("coordinator"), "statistician", slow("admin")])
def test_no_answer_reveals_an_arm_of_a_blinded_trial_unless_the_read_is_logged(service: Service, role: str) -> None:
    trial, recommendation_id = blinded_trial(service)
    seen = set()
    for route in ROUTES:
        before = n_reads(service)
        if route.method == "DELETE" or route.path in ("/openapi.json", "/policies"):
            continue
        for reply in asked(service, route, role, trial, recommendation_id):
            if reply.status < 300 and reveals(reply):
                after = n_reads(service)
                assert after > before, f"{route.method} {route.path} told a {role} an arm, and it was not logged"
                before = after
                seen.add(route.name)
    expected = {"show_trial", "show_recommendation", "results", "export", "monitor", "analysis"}
    expected |= {"list_records", "derive_again"}
    assert (
        seen
        == {"site": set(), "coordinator": set(), "statistician": expected, "admin": expected | {"create_trial"}}[role]
    )


def rows(service: Service, trial: str) -> list[tuple[Any, ...]]:
    """What the access log says of a trial's reads, in short."""
    found = service.client().accesses(trial)
    return [(row.label, row.kind, row.recommendation_id, row.count) for row in found]


def test_a_row_says_who_read_what_and_how_far_the_log_went(service: Service) -> None:
    trial, made = blinded_trial(service)
    statistician, label = service.client("statistician"), "the statistician of the tests"
    created = ("the first admin", "trial", None, 1)
    assert rows(service, trial) == [created]
    kit = str(service.client("site").recommendation(trial, made).kit)
    statistician.recommendation(trial, made)
    statistician.recommendation(trial, made)
    statistician.unblind(trial, kit, "an emergency")
    each = [(label, kind, made, 1) for kind in ("recommendation", "recommendation", "unblinding")]
    assert rows(service, trial) == [created, *each]
    last = service.client().accesses(trial)[-1]
    assert last.head == service.client().trial(trial).head
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", last.at)


def test_reads_of_results_and_of_the_trial_are_counted_in_ten_minutes(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial, _ = blinded_trial(service)
    statistician = service.client("statistician")
    now = datetime.now(UTC).replace(minute=31)
    monkeypatch.setattr(accesses, "utc_now", lambda: now)
    for _ in range(3):
        statistician.results(trial)
    now = now.replace(minute=39)
    statistician.results(trial)
    statistician.trial(trial)
    for _ in range(2):
        statistician.export(trial, tmp_path / "trial.csv")
    now = now.replace(minute=40)
    statistician.results(trial)
    found = service.client().accesses(trial)[1:]
    assert [(row.kind, row.at[14:16], row.count) for row in found] == [
        ("results", "30", 4),
        ("trial", "30", 1),
        ("export", "39", 2),  # at one moment, which only a stopped clock brings about
        ("results", "40", 1),
    ]


def test_reads_of_a_trial_that_is_not_blinded_are_logged_too(service: Service, tmp_path: Path) -> None:
    trial, site = service.new_trial(), service.client("site")
    made = site.recommend(trial, "S-1").id
    site.recommendation(trial, made)  # which was told the arm
    service.client().recommendation(trial, made)
    service.client().results(trial)
    service.client().export(trial, tmp_path / "trial.csv")
    assert service.send("GET", f"/trials/{trial}/recommendations/{made}/derivation").status == 200
    reads = [("recommendation", made), ("results", None), ("export", None), ("derivation", made)]
    assert [row[1:3] for row in rows(service, trial)] == reads


def test_a_recommendation_that_is_read_on_a_page_is_logged_blinded_or_not(service: Service) -> None:
    person, label = sign_in(service, "statistician"), "the statistician of the tests"
    for trial in (service.new_trial(), service.new_trial(blinded=True)):
        made = service.client("site").recommend(trial, "S-1").id
        before = rows(service, trial)
        for path in ("", "/derivation"):
            assert person.get(f"/app/trials/{trial}/audit/{made}{path}").status == 200
        assert rows(service, trial)[len(before) :] == [
            (label, kind, made, 1) for kind in ("recommendation", "derivation")
        ]


def test_what_the_answer_to_an_admins_report_tells_is_logged(service: Service) -> None:
    trial, made = blinded_trial(service)
    report = ("the first admin", "report", made, 1)
    service.client().report(trial, made, actual=ARMS[0])
    with pytest.raises(ConflictError, match="verum-xyz"):
        service.client().report(trial, made, actual=ARMS[1])
    service.client().report(trial, made, actual=ARMS[0])  # a success shows that the guess was right
    assert rows(service, trial)[1:] == [report] * 3
    service.client("site").report(trial, made, reward=1.0)
    assert len(rows(service, trial)) == 4


def test_a_refusal_that_is_recorded_but_cannot_be_logged_is_of_unknown_outcome(tmp_path: Path) -> None:
    store = open_store(tmp_path / "trials.db")
    with in_thread(store) as service:
        trial, made = blinded_trial(service)
        path = f"/trials/{trial}/recommendations/{made}/reports"
        assert service.send("POST", path, {"reward": 1.0}, key="once").status == 201
        with store.writing() as writing:
            writing.run("ALTER TABLE accesses RENAME TO elsewhere")
        reply = service.send("POST", path, {"reward": 0.0}, key="once")
        assert reply.status == 503
        assert "not known" in reply.json["detail"]


@pytest.mark.parametrize("path", ["", "/recommendations/ID", "/results", slow("/export"), slow("/export?format=log")])
def test_what_cannot_be_written_down_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    store = open_store(tmp_path / "trials.db")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with in_thread(store) as service:
        trial, made = blinded_trial(service)
        path = f"/trials/{trial}{path.replace('ID', made)}"

        def full(**_: object) -> None:
            raise StoreError("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(store, "writing", full)
            reply = service.send("GET", path)
        assert reply.status == 503
        assert not reveals(reply)
        assert [file for file in temporary.rglob("*") if file.is_file()] == []
        assert [row[1] for row in rows(service, trial)] == ["trial"]  # its creation
        assert service.send("GET", path).status == 200


def test_the_log_is_for_admins_in_pages_and_on_the_command_line(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trial, made = blinded_trial(service)
    reader = service.client().make_token("statistician", "a guest")
    service.tokens["guest"] = reader.token
    for _ in range(5):
        service.client("guest").recommendation(trial, made)
    service.client().revoke_token(reader.id)
    assert service.send("GET", f"/trials/{trial}/accesses", role="statistician").status == 403
    assert service.send("GET", f"/trials/{trial}/accesses?after=x").status == 422
    monkeypatch.setattr(accesses, "_PAGE", 2)
    assert rows(service, trial)[1:] == [("a guest", "recommendation", made, 1)] * 5
    assert service.store is not None
    copy = tmp_path / "copy.db"
    service.store.backup(copy)  # type: ignore[attr-defined]
    shown = in_this_process(capsys, "trial", "accesses", str(copy), "--trial", trial).out.splitlines()
    assert shown[0] == f"{trial}: reads"
    assert shown[1].split() == ["time", "token", "label", "kind", "recommendation", "count", "head"]
    head = service.client().trial(trial).head
    assert shown[-1].split()[1:] == [str(reader.id), "a", "guest", "recommendation", made, "1", head]
    log = tmp_path / "trial.log"
    service.client().export(trial, log, "log")
    assert b"a guest" not in log.read_bytes()
    check_complaint(in_this_process(capsys, "trial", "accesses", str(log)), "an exported log has no access log")
