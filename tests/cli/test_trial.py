"""adhere trial: what each command prints, and what it says of logs that are broken."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from adhere import Trial
from adhere.design.make_design import make_design
from adhere.policies.base.registry import registry
from adhere.store import open_store
from adhere.trial.domain.commands import ChangeStatus, Correct, Recommend, RecommendationResponse, Report
from adhere.trial.domain.events import Recommended, decode
from adhere.trial.writing.processor import CommandProcessor, utc_now
from trial.live import SECRET, UNKNOWN_ID, send

from .running import check_complaint, in_this_process


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trials") / "adhere.db"
    store = open_store(path)
    processor = CommandProcessor(store)
    processor.create(make_design("headache", "thompson/actual", ["walk", "aspirin"]), secret=SECRET)
    for n in range(6):
        made = send(
            processor, Recommend(trial="headache", request_id=f"q{n}", by="token 2", site="Leeds", subject=f"p{n}")
        )
        assert isinstance(made, RecommendationResponse)
        told = {"recommendation_id": made.recommendation_id, "actual": "aspirin", "reward": float(n % 2)}
        told |= {"happened": utc_now()}
        send(processor, Report(trial="headache", request_id=f"r{n}", **told))  # type: ignore[arg-type]
        if n == 1:
            wrong = made.recommendation_id
    send(
        processor,
        Correct(trial="headache", request_id="c", recommendation_id=wrong, reward=0.0, reason="typing error"),
    )
    store.close()
    return path


def id_of(file: Path, index: int) -> str:
    """The ID of a recommendation."""
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        (made, *_) = (decode(body) for body in view.histories(1, [index])[index])
    assert isinstance(made, Recommended)
    return made.recommendation_id


@pytest.mark.parametrize("command", ["replay", "results"])
def test_a_policy_that_is_not_known_here_is_to_be_imported(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.delitem(registry, "thompson")
    told = in_this_process(capsys, "trial", command, str(file))
    check_complaint(told, "trial 'headache' cannot be run here", "thompson", "--import FILE.py")


def test_the_life_of_a_log(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """List, verify, replay, export, import elsewhere, verify with the head, and it is all the same."""
    shown = in_this_process(capsys, "trial", "list", str(file))
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        last = decode(view.records(1, after=13)[0].body).at.isoformat(timespec="seconds")
    assert shown.out == f"headache: open, 6 recommendations, 14 records, the last at {last}, thompson/actual\n"
    verified = in_this_process(capsys, "trial", "verify", str(file))
    assert verified.out.startswith("headache: 14 records, all as they were written\nits secret is kept here, ")
    replayed = in_this_process(capsys, "trial", "replay", str(file))
    derived = "6 recommendations derived again, arm and probabilities, all the same"
    log, other, secrets = (tmp_path / name for name in ("headache.log", "other.db", "headache.secrets"))
    exported = in_this_process(capsys, "trial", "export", str(file), str(log), "--secrets", str(secrets))
    head = exported.out.split()[-1]
    assert verified.out.endswith(f"\nhead {head}\n")
    assert replayed.out == f"headache: 14 records; {derived}\nhead {head}\n"
    assert in_this_process(capsys, "trial", "list", str(log)).out == shown.out
    into = ("trial", "import", str(log), "--into", str(other), "--secrets", str(secrets))
    assert in_this_process(capsys, *into).status == 0
    # One record more: the trial goes on with a fresh secret.
    listed = in_this_process(capsys, "trial", "list", str(other)).out
    assert listed.partition(", the last at ")[0] == "headache: open, 6 recommendations, 15 records"
    again = in_this_process(capsys, "trial", "verify", str(other), "--head", head)
    assert (again.status, again.out.partition("\nhead ")[0]) == (
        0,
        verified.out.partition("\nhead ")[0].replace("14 records", "15 records"),
    )
    assert in_this_process(capsys, "trial", "replay", str(other)).out.startswith(f"headache: 15 records; {derived}\n")
    check_complaint(in_this_process(capsys, *into), "a name that no other trial has")


def test_every_trial_of_a_file_is_looked_at(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = tmp_path / "both.db"
    both.write_bytes(file.read_bytes())
    store = open_store(both)
    CommandProcessor(store).create(make_design("another", "ucb1", ["a", "b"]))
    store.close()
    for command in ("verify", "replay"):
        said = in_this_process(capsys, "trial", command, str(both)).out
        assert said.startswith("headache: 15 records")  # and one more: a copy goes on with a fresh secret
        assert "another: 1 record" in said
    check_complaint(in_this_process(capsys, "trial", "verify", str(both), "--head", "0" * 64), "--trial")
    check_complaint(
        in_this_process(capsys, "trial", "explain", str(both), id_of(file, 0)),
        "several trials here; choose one with --trial: headache, another",
    )


def test_a_table_and_back(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "headache.csv"
    assert in_this_process(capsys, "trial", "export", str(file), str(table)).status == 0
    assert "USUBJID,TRTP,TRTA" in table.read_text()
    into = ["--into", str(tmp_path / "b.db")]
    options = ["--name", "again", "--policy", "thompson/actual"]
    done = in_this_process(capsys, "trial", "import", str(table), *into, *options)
    assert done.out.startswith("again: 6 recommendations, 13 records, imported into ")
    assert done.out.endswith("\narms: walk, aspirin\n")
    table.write_text("subject,chosen,actual\nx,a,a\ny,b,c\n")
    options[1] = "three"
    check_complaint(in_this_process(capsys, "trial", "import", str(table), *into, *options), "row 2", "--arms")
    done = in_this_process(capsys, "trial", "import", str(table), *into, *options, "--arms", "a,b,c")
    assert done.out.endswith("\narms: a, b, c\n")
    check_complaint(in_this_process(capsys, "trial", "import", str(table), *into), "--name")
    exp3 = in_this_process(capsys, "trial", "import", str(table), *into, "--name", "x", "--policy", "exp3")
    check_complaint(exp3, "this policy needs n_patients=… (the number of patients), to set EXP3's γ")


def test_an_explanation(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = id_of(file, 1)
    told = in_this_process(capsys, "trial", "explain", str(file), asked).out
    assert told.startswith(f"Trial headache, recommendation {asked}: ")
    for words in (
        "Leeds/p1",
        "token 2, request q1",
        "walk 0.6667, aspirin 0.3333 (exact)",
        "drawn by   the trial's secret",
        "typing error",
        " (happened 20",
    ):
        assert words in told
    as_typed = asked.lower().replace("-", " ").replace("0", "o")
    assert in_this_process(capsys, "trial", "explain", str(file), as_typed).out == told
    for unknown in (UNKNOWN_ID, "1"):  # nobody outside is shown the index
        check_complaint(
            in_this_process(capsys, "trial", "explain", str(file), unknown),
            f"recommendation: got '{unknown}', expected the ID of a recommendation of this trial, e.g. ",
        )


def test_a_backup_is_a_file_of_trials(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "copy.db"
    assert in_this_process(capsys, "trial", "backup", str(file), str(copy)).status == 0
    assert in_this_process(capsys, "trial", "verify", str(copy)).status == 0
    check_complaint(in_this_process(capsys, "trial", "backup", str(file), str(copy)), "already exists")


def test_a_broken_log_is_named_with_status_one(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(file.read_bytes())
    with sqlite3.connect(broken) as opened:
        opened.execute("UPDATE records SET body = CAST(replace(body, 'q2', 'q3') AS BLOB) WHERE position = 6")
        opened.execute(
            "UPDATE records SET body = CAST(replace(body, 'aspirim', 'aspirin') AS BLOB) WHERE position = 1"
        )
    opened.close()
    for command in ("verify", "replay"):
        said = in_this_process(capsys, "trial", command, str(broken))
        assert (said.status, said.out) == (1, "")
        assert said.err == "error: headache, record 6: its hash does not match its text and the record before it\n"
    log = tmp_path / "cut.log"
    in_this_process(capsys, "trial", "export", str(file), str(log))
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-2]))
    said = in_this_process(capsys, "trial", "verify", str(log))
    assert (said.status, said.err) == (1, "error: record 15: the end of the log does not match its last line\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["verify", "nowhere.db"], "nowhere.db does not exist"),
        (["verify", "{file}", "--trial", "hedache"], "did you mean 'headache'?"),
        (["verify", "{file}", "--head", "abc"], "64 hexadecimal digits"),
        (["export", "{file}", "headache.xlsx"], ".csv, .parquet or .log"),
        (["export", "{file}", "nowhere/x.csv"], "does not exist"),
        (["list", "{notes}"], "that adhere trial export or Trial.save wrote"),
        (["list", "mysql://x"], "is not supported"),
        (["import", "{notes}", "--into", "x.db", "--name", "a", "--policy", "thompson"], "USUBJID"),
        (["import", "{file}", "--into", "x.db", "--name", "a", "--policy", "thompson"], "a table in CSV or Parquet"),
    ],
)
def test_mistakes_get_one_sentence(
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes.txt"
    notes.write_text("dear diary\n")
    given = [argument.format(file=file, notes=notes) for argument in arguments]
    check_complaint(in_this_process(capsys, "trial", *given), says)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]  # nothing half-way


@pytest.mark.parametrize("suffix", ["csv", "parquet", "log"])
def test_exports_are_only_for_their_owner(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    made, shared = tmp_path / f"made.{suffix}", tmp_path / f"shared.{suffix}"
    shared.touch()
    shared.chmod(0o644)  # on purpose, by its owner
    before = os.umask(0)
    try:
        for path in (made, shared):
            assert in_this_process(capsys, "trial", "export", str(file), str(path)).status == 0
    finally:
        os.umask(before)
    assert (made.stat().st_mode & 0o777, shared.stat().st_mode & 0o777) == (0o600, 0o644)


@pytest.mark.parametrize(
    "command", [("verify",), ("replay",), ("explain", UNKNOWN_ID), ("export", "to.log"), ("list",)]
)
def test_a_damaged_file_is_said_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "adhere.db"
    store = open_store(path)
    processor = CommandProcessor(store)
    processor.create(make_design("headache", "thompson/actual", ["walk", "aspirin"]))
    store.close()
    with sqlite3.connect(path) as database:
        pages = {
            root
            for root, table in database.execute("SELECT rootpage, tbl_name FROM sqlite_master")
            if root and table == ("trials" if command == ("list",) else "records")
        }
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * 4096)
            file.write(b"junk" * 1024)
    done = in_this_process(capsys, "trial", command[0], str(path), *command[1:])
    assert (done.status, done.out) == (1, "")
    assert (
        done.err
        == f"error: {path} is damaged: database disk image is malformed. Restore a backup: adhere trial restore.\n"
    )


def test_a_refused_import_leaves_no_database(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, table, into = tmp_path / "headache.log", tmp_path / "headache.csv", tmp_path / "new.db"
    for to in (log, table):
        assert in_this_process(capsys, "trial", "export", str(file), str(to)).status == 0
    log.write_bytes(log.read_bytes().replace(b"aspirin", b"aspirim", 1))
    table.write_text(table.read_text().replace("aspirin", "walk", 1).replace(",0.", ",7.", 2))
    options = ["--name", "again", "--policy", "thompson/actual", "--rewards", "0,0.5"]
    for command, says in (
        (["import", str(log)], "its hash does not match"),
        (["import", str(table), *options], "row 1"),
    ):
        check_complaint(in_this_process(capsys, "trial", *command, "--into", str(into)), says)
        assert not list(tmp_path.glob("new.db*"))
    shutil.copy(file, into)
    check_complaint(in_this_process(capsys, "trial", "import", str(log), "--into", str(into)))
    assert in_this_process(capsys, "trial", "verify", str(into)).status == 0  # one that was there stays
    open_store(tmp_path / "empty.db").close()
    check_complaint(in_this_process(capsys, "trial", "import", str(log), "--into", str(tmp_path / "empty.db")))
    assert (tmp_path / "empty.db").exists()


def test_results_with_intervals_in_words_and_in_json(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = in_this_process(capsys, "trial", "results", str(file))
    assert (told.status, told.err) == (0, "")
    assert (
        "headache: open, thompson/actual, 6 recommendations (6 complete, 0 waiting, 0 lost to follow-up)" in told.out
    )
    assert "at the next recommendation: walk 0." in told.out
    assert "missing reports" not in told.out
    found = json.loads(in_this_process(capsys, "trial", "results", str(file), "--json", "-").out)
    (aspirin,) = (one for one in found["as_treated"] if one["arm"] == "aspirin")
    assert (aspirin["n"], aspirin["mean"]) == (6, pytest.approx(2 / 6))  # all took it; 3 successes, 1 corrected
    assert f"{aspirin['mean']:.3f} [{aspirin['low']:.3f}, {aspirin['high']:.3f}] 6" in told.out
    assert "no estimand without further assumptions" in told.out
    out = tmp_path / "results.json"
    in_this_process(capsys, "trial", "results", str(file), "--json", str(out))
    assert json.loads(out.read_text()) == found
    check_complaint(in_this_process(capsys, "trial", "results", str(file), "--json", str(tmp_path / "no" / "x.json")))


def test_results_mislead_by_no_round_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "adhere.db"
    store = open_store(path)
    processor = CommandProcessor(store)
    processor.create(make_design("t", "thompson", ["a", "b"]), secret=bytes(32))
    for n in range(227):
        made = send(processor, Recommend(trial="t", request_id=f"q{n}", subject=f"p{n}"))
        assert isinstance(made, RecommendationResponse)
        told = {"recommendation_id": made.recommendation_id, "reward": float(made.arm == "a")}
        taken = {"took_nothing": True} if n == 226 else {"actual": made.arm}
        send(processor, Report(trial="t", request_id=f"r{n}", **told, **taken))  # type: ignore[arg-type]
    shown = in_this_process(capsys, "trial", "results", str(path)).out
    assert "at the next recommendation: a >0.999, b <0.001" in shown
    assert " 99.5% [" in shown or " 99.6% [" in shown
    send(processor, ChangeStatus(trial="t", request_id="c", status="closed", reason="done"))
    store.close()
    shown = in_this_process(capsys, "trial", "results", str(path)).out
    assert shown.startswith("t: closed, thompson, 227 recommendations")
    assert "next recommendation" not in shown


def test_results_of_many_arms_fit_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Trial("thompson", [f"arm {n}" for n in range(20)]).save(tmp_path / "many.log")
    told = in_this_process(capsys, "trial", "results", str(tmp_path / "many.log"))
    assert "another arm" in told.out
    assert max(map(len, told.out.splitlines())) <= 100


def test_labels_of_a_table_that_differ_only_in_case_or_blanks_are_one_arm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("subject,chosen,actual,reward\n1,drug,Drug,1\n2,drug, drug,0\n3,DRUG,Tea,1\n4,tea,tea,0\n")
    into = str(tmp_path / "t.db")
    done = in_this_process(
        capsys, "trial", "import", str(table), "--into", into, "--name", "t", "--policy", "thompson"
    )
    assert (done.status, "arms: drug, tea\n" in done.out) == (0, True)
    assert done.err.splitlines() == [
        "note: ' drug' (1 row of column TRTA) is read as 'drug'",
        "note: 'DRUG' (1 row of column TRTP) is read as 'drug'",
        "note: 'Drug' (1 row of column TRTA) is read as 'drug'",
        "note: 'Tea' (1 row of column TRTA) is read as 'tea'",
    ]
    assert "t: open" in in_this_process(capsys, "trial", "results", into).out
    two = in_this_process(
        capsys,
        *("trial", "import", str(table), "--into", into, "--name", "two", "--policy", "thompson"),
        *("--arms", "drug,DRUG,tea"),
    )
    assert "TRTA: got 'Drug', expected" in two.err  # it may be either
