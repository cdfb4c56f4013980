"""adhere trial: where the secret of kits goes, and where it does not."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from pathlib import Path

import pytest

from adhere.errors import ConflictError
from adhere.store import open_store
from adhere.trial.commands import Receipt, Recommend, RecommendationResponse, Report, Unblind
from adhere.trial.make_design import make_design
from adhere.trial.processor import CommandProcessor
from trial.live import send
from trial.test_kit_secret import spellings

from .running import check_complaint, in_this_process

FORMAT_2 = Path(__file__).parent.parent / "trial" / "log" / "blinded-format-2.log"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trials") / "adhere.db"
    with closing(open_store(path)) as store:
        processor = CommandProcessor(store)
        processor.create(make_design("headache", "thompson/actual", ["walk", "aspirin"], blinded=True))
        for n in range(3):
            kit = recommended(processor, f"p{n}")
            told = Report(
                trial="headache", request_id=f"r{n}", site="Leeds", recommendation_id=n, actual=kit, reward=1.0
            )
            send(processor, told)
    return path


@pytest.fixture
def log(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The log of the trial, with the secret beside it in `headache.secret`."""
    to = tmp_path / "headache.log"
    secret = str(tmp_path / "headache.secret")
    assert in_this_process(capsys, "trial", "export", str(file), str(to), "--kit-secret", secret).status == 0
    return to


def recommended(processor: CommandProcessor, subject: str) -> str:
    asked = Recommend(trial="headache", request_id=f"q-{subject}", site="Leeds", subject=subject)
    made = send(processor, asked)
    assert isinstance(made, RecommendationResponse)
    assert made.kit is not None
    return made.kit


def secret_of(file: Path) -> bytes:
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        secret = view.kit_secret(view.trials()["headache"])
    assert secret is not None
    return secret


def test_no_export_has_the_secret(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("headache.csv", "headache.parquet", "headache.log"):
        said = in_this_process(capsys, "trial", "export", str(file), str(tmp_path / name))
        written = (tmp_path / name).read_bytes() + said.out.encode() + said.err.encode()
        assert not any(text in written for text in spellings(secret_of(file)))
    assert "--kit-secret FILE" in said.err  # without which the log cannot be imported


def test_the_secret_moves_with_the_log_in_a_file_of_its_own(
    file: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret, into = log.with_suffix(".secret"), tmp_path / "other.db"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert secret.read_text() == f"{secret_of(file).hex()}\n"
    moved = in_this_process(capsys, "trial", "import", str(log), "--into", str(into), "--kit-secret", str(secret))
    assert moved.status == 0
    assert in_this_process(capsys, "trial", "verify", str(into)).status == 0
    assert secret_of(into) == secret_of(file)
    with closing(open_store(file)) as one, closing(open_store(into)) as two:
        processors = [CommandProcessor(store) for store in (one, two)]
        kits = [recommended(processor, "p9") for processor in processors]
        assert kits[0] == kits[1]
        told = send(processors[1], Unblind(trial="headache", request_id="u", kit=kits[0], reason="emergency"))
    assert isinstance(told, RecommendationResponse)
    assert told.recommendation_id == 3


def test_a_log_is_read_without_the_secret_but_not_imported(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["list"], ["verify"], ["replay"]):
        assert in_this_process(capsys, "trial", *command, str(log)).status == 0
    assert in_this_process(capsys, "trial", "explain", str(log), "1").status == 0
    assert in_this_process(capsys, "trial", "export", str(log), str(tmp_path / "again.csv")).status == 0
    into = tmp_path / "other.db"
    check_complaint(in_this_process(capsys, "trial", "import", str(log), "--into", str(into)), "--kit-secret FILE")
    assert in_this_process(capsys, "trial", "list", str(into)).out == ""


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        (b"00" * 32 + b"\n", 0o600, "whose digest is in the first record"),
        (b"abc\n", 0o600, "64 hexadecimal digits"),
        (b"\xff" * 64, 0o600, "64 hexadecimal digits"),
        (None, 0o640, "chmod 600"),
        (None, 0o604, "chmod 600"),
    ],
)
def test_a_secret_that_is_wrong_or_open_to_others_is_refused(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, mode: int, says: str
) -> None:
    secret, into = log.with_suffix(".secret"), tmp_path / "other.db"
    if content is not None:
        secret.write_bytes(content)
    secret.chmod(mode)
    said = in_this_process(capsys, "trial", "import", str(log), "--into", str(into), "--kit-secret", str(secret))
    check_complaint(said, says)
    if into.exists():
        assert in_this_process(capsys, "trial", "list", str(into)).out == ""


def test_the_file_of_the_secret_must_be_new(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "elsewhere").write_text("dear diary\n")
    (tmp_path / "a-link").symlink_to(tmp_path / "nowhere")
    for name, says in (("elsewhere", "a new file"), ("a-link", "a new file"), ("no-folder/x", "does not exist")):
        to = tmp_path / "headache.log"
        given = ["--kit-secret", str(tmp_path / name)]
        check_complaint(in_this_process(capsys, "trial", "export", str(file), str(to), *given), says)
        assert not to.exists()
    assert (tmp_path / "elsewhere").read_text() == "dear diary\n"
    assert not (tmp_path / "nowhere").exists()


def test_the_secret_is_private_whatever_the_umask(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = os.umask(0)
    try:
        given = ["--kit-secret", str(tmp_path / "secret")]
        assert in_this_process(capsys, "trial", "export", str(file), str(tmp_path / "a.log"), *given).status == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_the_secret_goes_only_where_it_belongs(
    file: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret, new = str(log.with_suffix(".secret")), str(tmp_path / "new")
    unblinded = tmp_path / "open.db"
    with closing(open_store(unblinded)) as store:
        CommandProcessor(store).create(make_design("open", "thompson/actual", ["walk", "aspirin"]), seed=1)
    open_log, csv = str(tmp_path / "open.log"), str(tmp_path / "headache.csv")
    assert in_this_process(capsys, "trial", "export", str(unblinded), open_log).err == ""
    table = ["--into", str(tmp_path / "t.db"), "--name", "t", "--policy", "thompson/actual"]
    for arguments, says in (
        (["export", str(file), csv, "--kit-secret", new], "the log"),
        (["export", str(unblinded), open_log, "--kit-secret", new], "a blinded trial"),
        (["export", str(log), str(tmp_path / "copy.log"), "--kit-secret", new], "in the store"),
        (["import", open_log, "--into", str(tmp_path / "x.db"), "--kit-secret", secret], "not blinded"),
        (["import", csv, *table, "--kit-secret", secret], "is for logs only"),
    ):
        (tmp_path / "headache.csv").write_text("USUBJID,TRTP\np,walk\n")
        check_complaint(in_this_process(capsys, "trial", *arguments), says)
    assert not Path(new).exists()


def test_a_blinded_log_of_format_2_is_read_and_imported_but_tells_no_kits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file was written before kits had a secret."""
    for command in (["list"], ["verify"], ["replay"]):
        assert in_this_process(capsys, "trial", *command, str(FORMAT_2)).status == 0
    into, secret = tmp_path / "old.db", tmp_path / "secret"
    secret.write_text("00" * 32)
    secret.chmod(0o600)
    given = ["trial", "import", str(FORMAT_2), "--into", str(into)]
    check_complaint(in_this_process(capsys, *given, "--kit-secret", str(secret)), "created before kits had a secret")
    assert in_this_process(capsys, *given).status == 0
    with closing(open_store(into)) as store:
        processor = CommandProcessor(store)
        with pytest.raises(ConflictError, match="created before kits had a secret"):
            send(processor, Recommend(trial="blind", request_id="q", site="L", subject="new"))
        again = Report(trial="blind", request_id="r", site="L", recommendation_id=1, reward=1.0)
        assert send(processor, again) == Receipt(8, 1)
    assert in_this_process(capsys, "trial", "verify", str(into)).status == 0


def test_a_backup_has_the_secret(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "copy.db"
    assert in_this_process(capsys, "trial", "backup", str(file), str(copy)).status == 0
    assert secret_of(copy) == secret_of(file)
    with closing(open_store(copy)) as store:
        recommended(CommandProcessor(store), "after the restore")


@pytest.mark.parametrize("to", ["same.log", "link/same.log"])
def test_the_log_and_the_secret_do_not_go_into_one_file(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], to: str
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    same, to = str(tmp_path / "same.log"), str(tmp_path / to)
    check_complaint(
        in_this_process(capsys, "trial", "export", str(file), to, "--kit-secret", same), "another file than the log's"
    )
    assert not Path(same).exists()
