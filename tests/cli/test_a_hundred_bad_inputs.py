"""Every command refuses what it cannot use: exit status 2, one sentence, no traceback, nothing written."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adhere import Trial
from adhere.store import open_store

from .running import check_complaint, in_this_process

SIMULATE = ("simulate", "--population", "defiers", "--policy", "thompson")
MAKE = ("token", "make", "--data", "trials.db", "--label", "Ada", "--role")
TABLE = ("trial", "import", "table.csv", "--into", "new.db", "--name", "t", "--policy")
SERVE = ("serve", "--data", "new.db", "--port", "0")
NO_COUNTS = ("0", "-1", "1.5", "ten", "", "1e400", "99999999999999999999")
NO_SPANS = ("", "tomorrow", "-1d", "0d", "12", "2020-01-01", "2026-13-45", "9999d")
NO_FILES = ("", "nowhere.db", "folder", "notes.txt", "mysql://x/y", "postgresql://")
# Without notes: a command that writes locks a file before it sees what is in it.
NO_STORES = ("", "nowhere.db", "folder", "mysql://x/y", "postgresql://")

BAD: list[tuple[str, ...]] = [
    *((*SIMULATE, "--patients", value) for value in NO_COUNTS),
    *((*SIMULATE, "--runs", value) for value in NO_COUNTS),
    *((*SIMULATE, "--threads", value) for value in NO_COUNTS),
    *((*SIMULATE, "--seed", value) for value in ("-1", "1.5", "ten", "", "18446744073709551616")),
    *((*SIMULATE, "--device", value) for value in ("gpu", "")),
    *((*SIMULATE, "--policy", value) for value in ("", "thompson", "thompson/", "/actual", "(", "exp3(gamma=2)")),
    *((*SIMULATE, "--population", value) for value in ("", "defiers", "nowhere.csv", "folder", "notes.txt")),
    *((*SIMULATE, option, "nowhere/x.png") for option in ("--json", "--plot", "--save")),
    (*SIMULATE, "--cluster", "nowhere"),
    (*SIMULATE, "--unknown"),
    (*SIMULATE, "superfluous"),
    *(("reproduce", "--study", value) for value in ("", "nothing", "Stroke-Trial-2")),
    *(("reproduce", "--seed", value) for value in ("-1", "x")),
    *(("reproduce", "--threads", value) for value in ("0", "x")),
    ("reproduce", "--out", "notes.txt"),
    ("reproduce", "--out", "nowhere/report"),
    *(("policies", value) for value in ("", "nothing", "thompson(")),
    *(("populations", value) for value in ("", "nothing", "nowhere.toml", "folder", "notes.txt")),
    *(("data", "stroke", "--from", value) for value in ("nowhere.csv", "folder", "notes.txt")),
    *(("analyse", value) for value in NO_FILES),
    *(("analyse", "table.csv", "--level", value) for value in ("", "0", "1", "nan", "inf", "high", "1e400")),
    *(("analyse", "table.csv", "--margin", value) for value in ("", "0", "1", "-0.1", "nan", "wide")),
    *(("analyse", "table.csv", "--redraws", value) for value in ("", "-1", "1.5", "nan", "99999999999999999999")),
    *(("analyse", "table.csv", f"--{role}", "x") for role in ("chosen", "actual", "reward", "propensity", "stratum")),
    *(("analyse", "table.csv", f"--{role}", "x") for role in ("time", "count", "subject", "control", "trial")),
    *(("analyse", "table.csv", option, "folder") for option in ("--html", "--json", "--import")),
    *(("analyse", "log.log", "--chosen", value) for value in ("", "x")),
    *(("trial", "list", value) for value in NO_FILES),
    *(("trial", "verify", value) for value in NO_FILES),
    *(("trial", "results", value) for value in NO_FILES),
    *(("trial", "replay", value) for value in NO_FILES),
    *(("trial", "verify", "log.log", "--head", value) for value in ("", "abc", "z" * 64)),
    *(("trial", "results", "log.log", "--trial", value) for value in ("", "other")),
    *(("trial", "explain", "log.log", value) for value in ("7", "x", "1.5", "", "0000-0000-0000-0000")),
    *(("trial", "reveal", value, "--reason", "over") for value in NO_STORES),
    *(("trial", "new-epoch", value, "--reason", "gone") for value in NO_STORES),
    *(("trial", command, "trials.db", "--reason", "") for command in ("reveal", "new-epoch", "accept-loss")),
    *(("trial", command, "trials.db") for command in ("reveal", "new-epoch", "accept-loss")),
    *(("trial", "export", "log.log", value) for value in ("", "x", "x.xlsx", "folder", "nowhere/x.csv")),
    *((*TABLE, value) for value in ("", "nothing", "exp3", "thompson(")),
    *((*TABLE, "thompson", "--seed", value) for value in ("-1", "1", "x")),
    (*TABLE, "thompson", "--secrets", "notes.txt"),
    *(("trial", "import", "log.log", "--into", "new.db", "--secrets", value) for value in NO_FILES),
    *(("trial", "export", "log.log", "x.log", "--secrets", value) for value in ("", "folder", "notes.txt", "x")),
    *(("trial", "create", "design.toml", "--into", "new.db", "--seed", value) for value in ("1", "x", "-1", "")),
    ("trial", "create", "design.toml", "--into", "new.db", "--secret-file", "nowhere/x"),
    *((*TABLE, "thompson", "--rewards", value) for value in ("", "a", "2", "0;1")),
    ("trial", "import", "table.csv", "--into", "new.db"),
    ("trial", "import", "log.log", "--into", "new.db", "--name", "x"),
    ("trial", "import", "nowhere.csv", "--into", "new.db"),
    ("trial", "backup", "nowhere.db", "copy.db"),
    ("trial", "backup", "notes.txt", "copy.db"),
    ("trial", "restore", "nowhere.db", "--into", "new.db"),
    ("trial", "restore", "notes.txt", "--into", "new.db"),
    ("trial", "accesses", "nowhere.db"),
    *((*MAKE, value) for value in ("", "king", "Admin ", "site")),
    *((*MAKE, "statistician", "--expires", value) for value in NO_SPANS),
    (*MAKE, "admin", "--site", "Leeds"),
    *((*MAKE, "site", "--site", value) for value in ("", "a/b", "x" * 300)),
    *(("token", "revoke", value, "--data", "trials.db") for value in ("x", "0", "-1", "")),
    ("token", "list", "--data", "nowhere.db"),
    ("token", "list", "--server", "http://127.0.0.1:9"),
    *((*SERVE, "--port", value) for value in ("-1", "65536", "x", "")),
    *((*SERVE, "--workers", value) for value in ("0", "2", "x")),
    *((*SERVE, "--log-level", value) for value in ("loud", "")),
    (*SERVE, "--settings", "nowhere.toml"),
    (*SERVE, "--settings", "notes.txt"),
    (*SERVE, "--tls-certificate", "nowhere.pem"),
    (*SERVE, "--data", "nowhere/x.db"),
    ("doctor", "--unknown"),
    ("doctor", "superfluous"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bad")
    (path / "folder").mkdir()
    (path / "notes.txt").write_text("dear diary\n")
    (path / "table.csv").write_text("USUBJID,TRTP,TRTA,AVAL\np1,walk,walk,1\np2,aspirin,walk,0\n")
    (path / "design.toml").write_text('name = "t"\npolicy = "thompson"\narms = ["walk", "aspirin"]\n')
    open_store(path / "trials.db").close()
    Trial("thompson", ["walk", "aspirin"]).save(path / "log.log")
    return path


def test_a_hundred_bad_inputs(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(BAD) >= 100
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ADHERE_TOKEN", "adh_of-nobody")
    monkeypatch.setattr(logging, "basicConfig", lambda **_: None)  # `serve` would log into what this test captures
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    wrong = []
    for arguments in BAD:
        try:
            check_complaint(in_this_process(capsys, *arguments))
        except Exception as error:
            wrong.append((arguments, repr(error)[:300]))
    assert wrong == []
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


@settings(max_examples=15, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(words=st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")), max_size=3))
def test_whatever_is_typed_is_understood_or_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(folder)
    for command in (
        ("simulate", "--population", "defiers", "--policy"),
        ("trial", "results"),
        ("policies",),
        ("analyse",),
    ):
        finished = in_this_process(capsys, *command, *words)
        assert finished.status in (0, 2)
        assert "Traceback" not in finished.err
        assert finished.err.count("\n") <= 1
