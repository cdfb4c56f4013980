"""Secrets in a file of their own (`secret_file`): the store, its backups and dumps do not contain them."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from signal import SIGTERM

import psycopg
import pytest

from adhere.cli.main import main
from adhere.service.jobs import jobs
from adhere.store import open_store
from adhere.trial.secret.trial_secret import commitment_to
from service.serving import ARMS, Process, Service, as_process, in_thread, spellings, wait_until

PLAIN, BLINDED = "plain", "blinded"


def play(service: Service) -> dict[str, str]:
    """Two trials with three patients each; returns a recommendation of each."""
    made: dict[str, str] = {}
    for trial in (PLAIN, BLINDED):
        service.client().create_trial(trial, "thompson/actual", ARMS, blinded=trial == BLINDED)
        site = service.client("site")
        for number in range(3):
            given = site.recommend(trial, f"S-{number}")
            made.setdefault(trial, given.id)
            site.report(trial, given.id, actual=given.kit or given.arm, reward=number % 2)
    return made


def secrets_in(file: Path) -> list[bytes]:
    """The secrets in a file of secrets, each under the commitment to it."""
    pairs = [tuple(map(bytes.fromhex, line.split())) for line in file.read_text().splitlines()]
    assert all(commitment_to(secret) == commitment.hex() for commitment, secret in pairs)
    return [secret for _, secret in pairs]


def containing(folder: Path, secrets: list[bytes]) -> set[str]:
    """The names of the files in a folder that have a secret in them."""
    written = [text for secret in secrets for text in spellings(secret)]
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return {name for name, data in files.items() if any(text in data for text in written)}


def test_the_database_its_log_and_its_backups_are_without_them(tmp_path: Path) -> None:
    path, file, backup = (tmp_path / name for name in ("adhere.db", "secrets", "backup.db"))
    with as_process(path, tmp_path, "--secret-file", str(file), "--log-level", "debug") as running:
        service = running.service
        made = play(service)
        secrets = secrets_in(file)
        assert len(secrets) == 2
        assert file.stat().st_mode & 0o777 == 0o600
        assert main(["trial", "backup", str(path), str(backup)]) == 0
        assert {"adhere.db", "adhere.db-wal", "backup.db", "stderr.txt"} <= {one.name for one in tmp_path.iterdir()}
        assert containing(tmp_path, secrets) == {"secrets"}
        for trial, one in made.items():
            found = service.client("statistician").derive_again(trial, one)
            assert (found.same, found.derived) == (True, "arm and probabilities")
            assert service.client().verify(trial).secret == "kept"
            log = service.send("GET", f"/trials/{trial}/export?format=log").body
            assert not any(text in log for secret in secrets for text in spellings(secret))
        running.stop(SIGTERM)
    assert containing(tmp_path, secrets) == {"secrets"}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM secrets").fetchone() == (0,)


@pytest.mark.slow
def test_the_process_for_jobs_draws_arms_by_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_FEW_RECORDS", 0)  # everything is done there
    store = open_store(tmp_path / "adhere.db", secret_file=tmp_path / "secrets")
    with in_thread(store) as service:
        for trial, one in play(service).items():
            found = service.client("statistician").derive_again(trial, one)
            assert (found.same, found.derived, found.arm) == (True, "arm and probabilities", found.logged_arm)
            assert service.client().verify(trial).secret == "kept"
            assert service.client().results(trial).recommendations == 3
            assert service.client().monitor(trial).recommendations == 3


@pytest.mark.slow
def test_secrets_that_are_older_than_the_setting_are_moved_and_overwritten(tmp_path: Path) -> None:
    path, file = tmp_path / "adhere.db", tmp_path / "secrets"
    with as_process(path, tmp_path) as running:
        made, token = play(running.service), running.service.admin
        running.stop(SIGTERM)
    with closing(sqlite3.connect(path)) as connection:
        secrets = [row[0] for row in connection.execute("SELECT secret FROM secrets")]
    assert "adhere.db" in containing(tmp_path, secrets)
    with as_process(path, tmp_path, "--secret-file", str(file), token=token) as running:
        service = running.service
        assert sorted(secrets_in(file)) == sorted(secrets)
        for trial, one in made.items():
            assert service.client().derive_again(trial, one).derived == "arm and probabilities"
            assert service.client("site").recommend(trial, "S-new").id
        _, said = running.stop(SIGTERM)
    assert "2 secrets were moved from the store into the file of secrets; older backups contain them" in said
    assert containing(tmp_path, secrets) == {"secrets"}


def unavailable(running: Process, trial: str, path: str, body: dict[str, object]) -> None:
    """A request is answered 503, says that the secret is missing, and writes nothing."""
    before = running.service.client().trial(trial).head
    reply = running.service.send("POST", f"/trials/{trial}/{path}", body)
    assert (reply.status, "retry-after" in reply.headers) == (503, True), reply.body
    assert "the secret that draws the trial's arms is missing" in reply.json["detail"]
    assert "nothing was written" in reply.json["detail"]
    assert running.service.client().trial(trial).head == before


def test_without_the_file_nothing_is_recommended_and_the_log_says_why(tmp_path: Path) -> None:
    path, file, away = (tmp_path / name for name in ("adhere.db", "secrets", "away"))
    with as_process(path, tmp_path, "--secret-file", str(file)) as running:
        made, token = play(running.service), running.service.admin
        kit = running.service.client().recommendation(BLINDED, made[BLINDED]).kit
        commitments = {trial: running.service.client().trial(trial).commitments[0] for trial in made}
        running.stop(SIGTERM)
    file.rename(away)
    with as_process(path, tmp_path, "--secret-file", str(file), token=token) as running:
        service = running.service
        wait_until(lambda: service.send("GET", "/readyz", role=None).status == 200, 60)
        for trial, one in made.items():
            unavailable(running, trial, "recommendations", {"subject": "S-new"})
            assert (
                service.client().correct(trial, one, "a slip", reward=1).recommendation_id == one
            )  # what needs no key
            shown = service.client().recommendation(trial, one)
            assert (shown.id, shown.kit, shown.derivation is not None) == (one, None, True)
            found = service.client().derive_again(trial, one)
            assert (found.same, found.arm) == (True, None)
            assert found.derived == "probabilities only: the secret that drew the arm is not known here"
            assert service.client().verify(trial).secret == "unknown"
            assert service.client().results(trial).recommendations == 3
        taken = f"recommendations/{made[BLINDED]}/corrections"
        naming_a_kit = (("unblindings", {"kit": kit}, "admin"), (taken, {"actual": kit}, "site"))
        for place, body, role in naming_a_kit:
            reason = {"reason": "an emergency"}
            refused = service.send("POST", f"/trials/{BLINDED}/{place}", body | reason, role=role)
            assert (refused.status, "this one's is missing, so it cannot" in refused.json["detail"]) == (409, True)
        lines = [json.loads(line) for line in running.errors.read_text().splitlines()]
        errors = [line["message"] for line in lines if line["level"] == "error"]
        for trial, commitment in commitments.items():
            why = (
                f"the secret with the commitment {commitment[:8]}… is not known here: it is neither in the store nor"
            )
            assert any(said.startswith(f"trial {trial!r} can recommend nothing: {why}") for said in errors)
            assert any(
                said.startswith(f"/trials/{{trial}}/recommendations was answered 503: {why}") for said in errors
            )
        away.rename(file)  # once it is back all goes on
        for trial, one in made.items():
            assert service.client("site").recommend(trial, "S-new").id
            assert service.client().derive_again(trial, one).derived == "arm and probabilities"
        assert service.client().unblind(BLINDED, kit or "", "an emergency").id == made[BLINDED]
        assert service.client().recommendation(BLINDED, made[BLINDED]).kit == kit


@pytest.mark.slow
@pytest.mark.parametrize("what", ["readable by others", "of another secret", "no text"])
def test_a_file_that_cannot_be_trusted_is_refused(tmp_path: Path, what: str) -> None:
    path, file = tmp_path / "adhere.db", tmp_path / "secrets"
    with as_process(path, tmp_path, "--secret-file", str(file)) as running:
        made, token = play(running.service), running.service.admin
        running.stop(SIGTERM)
    if what == "of another secret":
        file.write_text("".join(f"{line.split()[0]} {bytes(32).hex()}\n" for line in file.read_text().splitlines()))
        with as_process(path, tmp_path, "--secret-file", str(file), token=token) as running:
            for trial in made:
                reply = running.service.send("POST", f"/trials/{trial}/recommendations", {"subject": "S-new"})
                assert reply.status == 503
            assert not running.service.client().verify(PLAIN).whole
            assert "does not match the commitment" in running.errors.read_text()
        return
    if what == "readable by others":
        file.chmod(0o640)
    else:
        file.write_bytes(b"\xff" * 65)
    command = [
        sys.executable,
        "-m",
        "adhere",
        "serve",
        "--data",
        str(path),
        "--port",
        "0",
        "--secret-file",
        str(file),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    says = {
        "readable by others": "can be read by other users: run chmod 600 on it",
        "no text": "cannot be read: it is not text",
    }
    assert ended.stderr == f"error: the file of secrets {file} {says[what]}\n"


@pytest.mark.slow
def test_workers_share_the_file_and_postgresql_has_none(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    with as_process(database_url, tmp_path, "--workers", "2", "--secret-file", str(file)) as running:
        service = running.service
        wait_until(lambda: service.send("GET", "/readyz", role=None).status == 200, 60)
        for number in range(4):  # each made by one of the workers, and known to both
            service.client().create_trial(f"t-{number}", "uniform", ARMS, blinded=bool(number % 2))
        for number in range(4):
            made = [service.client("site").recommend(f"t-{number}", f"S-{one}") for one in range(8)]
            found = {service.client().derive_again(f"t-{number}", one.id).derived for one in made}
            assert found == {"arm and probabilities"}
        assert running.stop(SIGTERM)[0] == 0
    assert len(secrets_in(file)) == 4
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT count(*) FROM secrets").fetchone() == (0,)
