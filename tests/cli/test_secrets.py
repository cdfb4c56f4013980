"""adhere trial: where the secrets of a trial go, where they do not, and how a trial goes on elsewhere with them."""

from __future__ import annotations

import os
import stat
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from adhere import Trial
from adhere.design.make_design import make_design
from adhere.errors import ConflictError, InputError, UnknownError
from adhere.store import open_store
from adhere.trial.domain.commands import (
    ChangeStatus,
    Recommend,
    RecommendationResponse,
    Report,
    Unblind,
    UnblindingResponse,
)
from adhere.trial.domain.events import EpochBegun, Recommended, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.log.log_file import secrets_of
from adhere.trial.secret.trial_secret import commitment_to
from adhere.trial.writing.processor import CommandProcessor
from trial.live import send

from .running import Finished, check_complaint, in_this_process

DESIGN = make_design("headache", "thompson/actual", ["walk", "aspirin"], blinded=True)
OTHER = bytes(32)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A blinded trial with three patients."""
    path = tmp_path_factory.mktemp("trials") / "adhere.db"
    with running(path) as processor:
        processor.create(DESIGN)
        for n in range(3):
            made = recommended(processor, f"p{n}")
            send(processor, about(made, kit=made.kit))
    return path


@pytest.fixture
def log(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The log of the trial, with its secret beside it in `headache.secrets`."""
    return exported(capsys, file, tmp_path / "headache.log")


def exported(capsys: pytest.CaptureFixture[str], file: Path, log: Path) -> Path:
    """Export the log of a trial, and its secrets beside it."""
    secrets = str(log.with_suffix(".secrets"))
    done = in_this_process(capsys, "trial", "export", str(file), str(log), "--secrets", secrets)
    assert (done.status, done.err) == (0, "")
    return log


def imported(capsys: pytest.CaptureFixture[str], log: Path, into: Path, *options: str) -> Finished:
    """Import a log with the secrets beside it."""
    secrets = str(log.with_suffix(".secrets"))
    return in_this_process(capsys, "trial", "import", str(log), "--into", str(into), "--secrets", secrets, *options)


@contextmanager
def running(file: Path) -> Iterator[CommandProcessor]:
    with closing(open_store(file)) as store:
        yield CommandProcessor(store)


def recommended(processor: CommandProcessor, subject: str) -> RecommendationResponse:
    made = send(processor, Recommend(trial="headache", request_id=f"q-{subject}", site="Leeds", subject=subject))
    assert isinstance(made, RecommendationResponse)
    return made


def about(made: RecommendationResponse, kit: str | None, request_id: str = "") -> Report:
    """A report about a recommendation."""
    asked = request_id or f"r-{made.recommendation_id}"
    said = {"recommendation_id": made.recommendation_id, "reward": 1.0, "actual": kit}
    return Report(trial="headache", request_id=asked, site="Leeds", **said)  # type: ignore[arg-type]


def close(file: Path) -> None:
    with running(file) as processor:
        send(processor, ChangeStatus(trial="headache", request_id="close", status="closed", reason="done"))


def secrets_in(file: Path) -> list[bytes]:
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        return secrets_of(view, view.trials()["headache"])


def events_in(file: Path) -> list[object]:
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        return [decode(record.body) for record in walk(view, view.trials()["headache"])]


def spellings(secret: bytes) -> list[bytes]:
    return [secret, secret.hex().encode(), secret.hex().upper().encode(), b64encode(secret), repr(secret).encode()]


def test_no_export_has_the_secret(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (secret,) = secrets_in(file)
    for name in ("headache.csv", "headache.parquet", "headache.log"):
        said = in_this_process(capsys, "trial", "export", str(file), str(tmp_path / name))
        written = (tmp_path / name).read_bytes() + said.out.encode() + said.err.encode()
        assert not any(text in written for text in spellings(secret))
        assert ("--secrets FILE" in said.err) == (name == "headache.log")  # without which it cannot be imported
    assert commitment_to(secret).encode() in (tmp_path / "headache.log").read_bytes()


def test_the_secrets_move_with_the_log_in_a_file_of_their_own(
    file: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets, into = log.with_suffix(".secrets"), tmp_path / "other.db"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    (first,) = secrets_in(file)
    assert secrets.read_text() == f"{first.hex()}\n"
    moved = imported(capsys, log, into)
    assert (moved.status, moved.out, moved.err) == (0, f"headache: imported into {into}\n", "")
    assert in_this_process(capsys, "trial", "verify", str(into)).status == 0
    # It goes on with a secret of its own, to which the log has a commitment.
    assert secrets_in(into)[0] == first
    (second,) = secrets_in(into)[1:]
    begun = events_in(into)[-1]
    assert isinstance(begun, EpochBegun)
    assert (begun.commitment, begun.reason[:19]) == (commitment_to(second), "imported from a log")
    with running(into) as processor:
        recommended(processor, "p9")
    epochs = [event.epoch for event in events_in(into) if isinstance(event, Recommended)]
    assert epochs == ["", "", "", begun.commitment]
    # And once more, with both secrets.
    again = exported(capsys, into, tmp_path / "again.log")
    assert again.with_suffix(".secrets").read_text() == f"{first.hex()}\n{second.hex()}\n"
    assert imported(capsys, again, tmp_path / "third.db").status == 0
    assert secrets_in(tmp_path / "third.db")[:2] == [first, second]
    replayed = in_this_process(capsys, "trial", "replay", str(tmp_path / "third.db"))
    assert "4 recommendations derived again, arm and probabilities, all the same" in replayed.out


def test_ids_and_kits_from_before_the_export_lead_back_and_later_ones_nowhere(
    file: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The trial went on after the export: what was given out since is unknown to whoever goes on from the log."""
    source, into = tmp_path / "source.db", tmp_path / "other.db"
    assert imported(capsys, log, source).status == 0
    with running(source) as processor:
        before = recommended(processor, "before")
        early = exported(capsys, source, tmp_path / "early.log")
        after = recommended(processor, "after")
    assert imported(capsys, early, into).status == 0
    with running(into) as processor:
        instead = recommended(processor, "instead")  # which has the index that `after` had
        assert instead.recommendation_id != after.recommendation_id
        assert instead.kit != after.kit
        with pytest.raises(UnknownError, match=f"recommendation '{after.recommendation_id}' is not known here"):
            send(processor, about(after, kit=after.kit))
        with pytest.raises(InputError, match="the code of a kit of this trial"):
            send(processor, about(before, kit=after.kit, request_id="other kit"))
        with pytest.raises(InputError, match="the code of a kit of this trial"):
            send(processor, Unblind(trial="headache", request_id="u", kit=str(after.kit), reason="emergency"))
        send(processor, about(before, kit=before.kit))
        told = send(processor, Unblind(trial="headache", request_id="v", kit=str(before.kit), reason="emergency"))
        assert isinstance(told, UnblindingResponse)
        assert told.recommendation_id == before.recommendation_id


def test_a_log_is_read_without_the_secrets_but_not_imported(
    file: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert in_this_process(capsys, "trial", "list", str(log)).status == 0
    assert "its secret is not revealed: " in in_this_process(capsys, "trial", "verify", str(log)).out
    replayed = in_this_process(capsys, "trial", "replay", str(log)).out
    assert replayed.startswith("headache: 7 records\n3 recommendations checked by probabilities, all the same; arms ")
    (one, *_) = (event for event in events_in(file) if isinstance(event, Recommended))
    assert in_this_process(capsys, "trial", "explain", str(log), one.recommendation_id).status == 0
    assert in_this_process(capsys, "trial", "export", str(log), str(tmp_path / "again.csv")).status == 0
    into = tmp_path / "other.db"
    said = in_this_process(capsys, "trial", "import", str(log), "--into", str(into))
    check_complaint(said, "secrets: got 'none', expected those of this trial: --secrets FILE")
    assert not into.exists()


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        (f"{OTHER.hex()}\n", 0o600, f"a secret with the commitment {commitment_to(OTHER)}', expected only secrets"),
        (f"{{secret}}\n{OTHER.hex()}\n", 0o600, "only secrets that the log has commitments to"),
        ("abc\n", 0o600, "lines of 64 hexadecimal digits"),
        ("{secret}\nabc\n", 0o600, "lines of 64 hexadecimal digits"),
        ("", 0o600, "lines of 64 hexadecimal digits"),
        ("\xff" * 64, 0o600, "lines of 64 hexadecimal digits"),
        ("{secret}\n", 0o640, "chmod 600"),
        ("{secret}\n", 0o604, "chmod 600"),
        (None, 0, "does not exist"),
    ],
)
def test_secrets_that_are_wrong_missing_superfluous_or_open_to_others_are_refused(
    file: Path,
    log: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: str | None,
    mode: int,
    says: str,
) -> None:
    secrets, into = log.with_suffix(".secrets"), tmp_path / "other.db"
    (secret,) = secrets_in(file)
    if content is None:
        secrets.unlink()
    else:
        secrets.write_bytes(content.replace("{secret}", secret.hex()).encode("latin-1"))
        secrets.chmod(mode)
    said = imported(capsys, log, into)
    check_complaint(said, says)
    assert not any(text.decode("latin-1") in said.err for text in spellings(secret))
    assert not into.exists()


def test_the_secrets_of_all_epochs_are_needed(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert imported(capsys, log, tmp_path / "other.db").status == 0
    again = exported(capsys, tmp_path / "other.db", tmp_path / "again.log")
    secrets = again.with_suffix(".secrets")
    for one in secrets.read_text().splitlines():
        secrets.write_text(f"{one}\n")
        check_complaint(imported(capsys, again, tmp_path / "third.db"), "secrets: got 'not all of them', expected")
        assert not (tmp_path / "third.db").exists()


def test_a_closed_trial_is_imported_without_secrets_and_stays_as_it_is(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, into, closed = tmp_path / "source.db", tmp_path / "other.db", tmp_path / "closed.log"
    assert imported(capsys, log, source).status == 0
    close(source)
    done = in_this_process(capsys, "trial", "export", str(source), str(closed))
    assert (done.status, done.err) == (0, "")  # nothing is missing: it does not go on
    assert in_this_process(capsys, "trial", "import", str(closed), "--into", str(into)).status == 0
    assert in_this_process(capsys, "trial", "verify", str(into)).out.endswith(f"{done.out.split()[-1]}\n")
    assert (secrets_in(into), events_in(into)) == ([], events_in(source))
    reveal = ("trial", "reveal", str(into), "--reason", "the report is written")
    check_complaint(in_this_process(capsys, *reveal), "is not stored here", "nothing was revealed")
    with running(into) as processor, pytest.raises(ConflictError, match="trial 'headache' is closed"):
        recommended(processor, "late")
    with_secrets = exported(capsys, source, tmp_path / "again.log")
    assert imported(capsys, with_secrets, tmp_path / "third.db").status == 0
    assert secrets_in(tmp_path / "third.db") == secrets_in(source)


def test_a_revealed_trial_brings_its_secrets_in_its_log(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, revealed = tmp_path / "source.db", tmp_path / "revealed.log"
    assert imported(capsys, log, source).status == 0
    close(source)
    assert in_this_process(capsys, "trial", "reveal", str(source), "--reason", "the report is written").status == 0
    exported(capsys, source, revealed)
    assert in_this_process(capsys, "trial", "import", str(revealed), "--into", str(tmp_path / "a.db")).status == 0
    assert imported(capsys, revealed, tmp_path / "b.db").status == 0  # with both, which are the same
    for name in ("a.db", "b.db"):
        assert secrets_in(tmp_path / name) == secrets_in(source)
        assert events_in(tmp_path / name) == events_in(source)


def test_the_file_of_secrets_must_be_new(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "elsewhere").write_text("dear diary\n")
    (tmp_path / "a-link").symlink_to(tmp_path / "nowhere")
    for name, says in (("elsewhere", "a new file"), ("a-link", "a new file"), ("no-folder/x", "does not exist")):
        to = tmp_path / "headache.log"
        given = ["--secrets", str(tmp_path / name)]
        check_complaint(in_this_process(capsys, "trial", "export", str(file), str(to), *given), says)
        assert not to.exists()
    assert (tmp_path / "elsewhere").read_text() == "dear diary\n"
    assert not (tmp_path / "nowhere").exists()


def test_the_secrets_are_private_whatever_the_umask(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = os.umask(0)
    try:
        exported(capsys, file, tmp_path / "a.log")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.secrets").stat().st_mode) == 0o600


def test_the_secrets_go_only_where_they_belong(
    file: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets, new = str(log.with_suffix(".secrets")), str(tmp_path / "new")
    seeded, seeded_log, csv = tmp_path / "seeded.db", str(tmp_path / "seeded.log"), str(tmp_path / "headache.csv")
    with running(seeded) as processor:
        rehearsal = make_design("seeded", "thompson/actual", ["walk", "aspirin"], rehearsal=True)
        processor.create(rehearsal, seed=1)
    exports = in_this_process(capsys, "trial", "export", str(seeded), seeded_log)
    assert (exports.status, exports.err) == (0, "")  # a rehearsal with a seed has no secret
    table = ["--into", str(tmp_path / "t.db"), "--name", "t", "--policy", "thompson/actual"]
    (tmp_path / "headache.csv").write_text("USUBJID,TRTP\np,walk\n")
    for arguments, says in (
        (["export", str(file), csv, "--secrets", new], "expected the log"),
        (["export", str(seeded), seeded_log, "--secrets", new], "seeded lacks one or more"),
        (["export", str(log), str(tmp_path / "copy.log"), "--secrets", new], "headache lacks one or more"),
        (
            ["import", seeded_log, "--into", str(tmp_path / "x.db"), "--secrets", secrets],
            "only secrets that the log has commitments to",
        ),
        (["import", csv, *table, "--secrets", secrets], "--secrets is for logs only"),
    ):
        check_complaint(in_this_process(capsys, "trial", *arguments), says)
    assert not Path(new).exists()
    assert (tmp_path / "headache.csv").read_text() == "USUBJID,TRTP\np,walk\n"


@pytest.mark.parametrize("to", ["same.log", "link/same.log"])
def test_the_log_and_the_secrets_do_not_go_into_one_file(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], to: str
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    same, to = str(tmp_path / "same.log"), str(tmp_path / to)
    said = in_this_process(capsys, "trial", "export", str(file), to, "--secrets", same)
    check_complaint(said, "another file than the log's")
    assert not Path(same).exists()


def test_a_log_saved_from_memory_is_imported_to_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has a seed, by which anybody could predict the arms of a live trial."""
    saved, into = tmp_path / "headache.log", tmp_path / "adhere.db"
    trial = Trial("thompson/actual", ["walk", "aspirin"], seed=3, name="headache")
    for _ in range(4):
        trial.report(trial.recommend().id, actual="walk", reward=1)
    trial.save(saved)
    done = in_this_process(capsys, "trial", "import", str(saved), "--into", str(into))
    assert (done.status, done.out) == (0, f"headache: imported into {into}\n")
    assert done.err.startswith("note: the trial can be read but cannot continue live; a live trial draws its own s")
    assert (
        "its arms were drawn by a seed that is in the log\n"
        in in_this_process(capsys, "trial", "verify", str(into)).out
    )
    replayed = in_this_process(capsys, "trial", "replay", str(into)).out
    assert replayed.startswith("headache: 9 records; 4 recommendations derived again, arm and probabilities, all")
    with running(into) as processor, pytest.raises(ConflictError, match="cannot continue live: it was run in memory"):
        recommended(processor, "p1")
    assert len(events_in(into)) == 9


def test_a_backup_has_the_secrets_and_a_copy_of_a_file_goes_on_with_a_fresh_one(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.db"
    assert in_this_process(capsys, "trial", "backup", str(file), str(copy)).status == 0
    assert secrets_in(copy) == secrets_in(file)
    with running(copy) as processor:
        recommended(processor, "after the restore")
    last = [event for event in events_in(copy) if isinstance(event, Recommended)][-1]
    assert len(secrets_in(copy)) == 2
    assert last.epoch in [event.commitment for event in events_in(copy) if isinstance(event, EpochBegun)]


def test_secrets_may_be_kept_in_a_file_apart_from_the_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    design, database, kept = (tmp_path / name for name in ("headache.toml", "adhere.db", "secrets.txt"))
    design.write_text(DESIGN.to_toml())
    apart = ("--secret-file", str(kept))
    assert in_this_process(capsys, "trial", "create", str(design), "--into", str(database), *apart).status == 0
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    commitment, secret = kept.read_text().split()
    assert commitment == commitment_to(bytes.fromhex(secret))
    with closing(open_store(database, secret_file=kept)) as store:
        recommended(CommandProcessor(store), "p1")
    for path in tmp_path.glob("adhere.db*"):
        assert not any(text in path.read_bytes() for text in spellings(bytes.fromhex(secret)))
    # Whoever has only the database knows as much as whoever has the log.
    assert "its secret is not revealed: " in in_this_process(capsys, "trial", "verify", str(database)).out
    assert "its secret is kept here, " in in_this_process(capsys, "trial", "verify", str(database), *apart).out
    for options, says in (((), "1 recommendation checked by prob"), (apart, "1 recommendation derived again, arm ")):
        assert says in in_this_process(capsys, "trial", "replay", str(database), *options).out
    log, secrets = str(tmp_path / "headache.log"), tmp_path / "headache.secrets"
    export = ("trial", "export", str(database), log, "--secrets", str(secrets))
    check_complaint(in_this_process(capsys, *export), "a trial with all its secrets stored here")
    assert in_this_process(capsys, *export, *apart).status == 0
    assert secrets.read_text() == f"{secret}\n"
    into, other = tmp_path / "other.db", tmp_path / "other.txt"
    elsewhere = ("--secret-file", str(other))
    assert imported(capsys, Path(log), into, *elsewhere).status == 0
    assert other.read_text().split()[1] == secret
    assert secrets_in(into) == []
    assert "its secret is kept here, " in in_this_process(capsys, "trial", "verify", str(into), *elsewhere).out
