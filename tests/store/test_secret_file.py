"""Secrets in a file of their own: a database and its dumps do not have them, and none that was used is ever lost."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from adhere.errors import SecretUnknownError
from adhere.store import Store, StoreError, open_store
from adhere.store.secret_file import SecretFile
from adhere.trial.domain.events import Created
from adhere.trial.log.verify import verify
from adhere.trial.secret.trial_secret import commitment_to
from trial.live import SECRET, Live, number_of

from .faulty_disk import FaultyDisk
from .places import Place, make_trial

SECRETS = [bytes([number]) * 32 for number in range(20)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trials.secrets"


def saved(path: Path, *secrets: bytes) -> SecretFile:
    file = SecretFile(path)
    for secret in secrets:
        file.add(commitment_to(secret), secret)
    return file


def found(file: SecretFile) -> list[bytes]:
    """Which of the secrets it has."""
    return [secret for secret in SECRETS if file.find(commitment_to(secret)) == secret]


def secret_in(store: Store) -> bytes | None:
    with store.reading() as view:
        return view.secret(commitment_to(SECRET))


def test_a_trial_goes_on_with_its_file_and_not_without(place: Place, path: Path) -> None:
    with closing(open_store(place.where, secret_file=path)) as store:
        live = Live(store=store)
        live.recommend("s")
        assert secret_in(store) == SECRET
        with store.reading() as view:
            assert not view.has_secrets()
            assert verify(view, number_of(view)).secret == "kept"
        if place.where is None:
            return
    with closing(open_store(place.where)) as store:
        assert secret_in(store) is None
        live = Live(store=store)
        with pytest.raises(SecretUnknownError):
            live.recommend("t")
        with store.reading() as view:
            found = verify(view, number_of(view))
        assert (found.fault, found.secret) == (None, "unknown")
    with closing(open_store(place.where, secret_file=path)) as store:
        live = Live(store=store)
        live.recommend("t", request_id="another")
        assert live.kinds() == ["Created", "Recommended", "Recommended"]


def test_the_database_does_not_have_the_secret(tmp_path: Path, path: Path) -> None:
    with closing(open_store(tmp_path / "trials.db", secret_file=path)) as store:
        Live(store=store).recommend("s")
    kept = [file for file in tmp_path.iterdir() if file.is_file() and SECRET in file.read_bytes()]
    assert kept == []
    assert SECRET.hex() in path.read_text()
    assert not [file for file in tmp_path.glob("trials.db*") if SECRET.hex().encode() in file.read_bytes()]


def test_only_its_owner_may_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        saved(path, SECRETS[0])
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for mode in (0o640, 0o604, 0o666):
        path.chmod(mode)
        with pytest.raises(StoreError, match="can be read by other users: run chmod 600 on it"):
            SecretFile(path)


def test_a_secret_that_another_process_added_is_found(path: Path) -> None:
    one, two = SecretFile(path), SecretFile(path)
    one.add(commitment_to(SECRETS[0]), SECRETS[0])
    assert found(two) == SECRETS[:1]
    two.add(commitment_to(SECRETS[1]), SECRETS[1])
    assert found(one) == found(SecretFile(path)) == SECRETS[:2]
    assert one.find(commitment_to(SECRETS[2])) is None


def test_threads_and_processes_add_at_the_same_time(path: Path) -> None:
    files = [SecretFile(path) for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        for number, secret in enumerate(SECRETS):
            threads.submit(files[number % 4].add, commitment_to(secret), secret)
    assert found(SecretFile(path)) == SECRETS


@pytest.mark.parametrize("left", [1, 63, 64, 65, 66, 100, 128, 129])
def test_a_line_that_was_cut_off_costs_no_other(path: Path, left: int) -> None:
    """As when the disk was full, or the power failed: what follows must not be read as the rest of that line."""
    saved(path, *SECRETS[:2])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + left])
    saved(path, SECRETS[2])
    saved(path, SECRETS[3])
    is_whole = left == 129
    assert found(SecretFile(path)) == [SECRETS[0], *([SECRETS[1]] if is_whole else []), *SECRETS[2:4]]
    file = SecretFile(path)
    others = {line.split()[0] for line in path.read_text().splitlines() if len(line.split()) == 2}
    assert all(file.find(one) in (*SECRETS[:4], None) for one in others)  # and no secret was made up


def test_a_full_disk_is_said_and_the_trial_is_not_created(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = os.write

    def full(file: int, data: bytes) -> int:
        return written(file, data[:70])

    with closing(open_store(secret_file=path)) as store:
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            with pytest.raises(StoreError, match="could not be written: the disk is full"):
                Live(store=store)
        with store.reading() as view:
            assert not view.trials()
        live = Live(store=store)  # once there is room again
        live.recommend("s")
        assert SecretFile(path).find(commitment_to(SECRET)) == SECRET


def test_files_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be written: folder .*missing does not exist"):
        open_store(secret_file=tmp_path / "missing" / "secrets")
    (tmp_path / "folder").mkdir(mode=0o700)
    with pytest.raises(StoreError, match="is a folder: give the name of a file in it"):
        SecretFile(tmp_path / "folder")
    (tmp_path / "picture").write_bytes(bytes(range(256)))
    (tmp_path / "picture").chmod(0o600)
    with pytest.raises(StoreError, match="cannot be read: it is not text"):
        SecretFile(tmp_path / "picture")


def test_a_transaction_that_fails_leaves_a_secret_that_nobody_uses(path: Path) -> None:
    with closing(open_store(secret_file=path)) as store:

        def write_and_fail() -> None:
            with store.writing() as writing:
                writing.save_secret(1, commitment_to(SECRETS[0]), SECRETS[0])
                raise KeyboardInterrupt

        make_trial(store)
        with pytest.raises(KeyboardInterrupt):
            write_and_fail()
        with store.writing() as writing:
            writing.save_secret(1, commitment_to(SECRETS[1]), SECRETS[1])
    assert found(SecretFile(path)) == SECRETS[:2]


def test_secrets_of_older_trials_are_moved(place: Place, path: Path) -> None:
    store = place.open()
    live = Live(store=store)
    live.recommend("s")
    store.secret_file = SecretFile(path)
    assert secret_in(store) == SECRET  # which is still in the store
    with store.writing() as writing:
        assert writing.move_secrets() == 1
    with store.writing() as writing:
        assert writing.move_secrets() == 0
    with store.reading() as view:
        assert not view.has_secrets()
    assert secret_in(store) == SECRET
    live.processor = type(live.processor)(store, live.clock)
    live.recommend("t")
    created = live.events()[0]
    assert isinstance(created, Created)
    assert SecretFile(path).find(created.commitment) == SECRET


ADD = """
import os, signal, sys
from pathlib import Path
from adhere.store.secret_file import SecretFile

for number in range(3):
    SecretFile(Path(sys.argv[1])).add(f"{number:064x}", bytes([number]) * 32)
    print(number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_secret_that_was_added_survives_a_power_cut(tmp_path: Path) -> None:
    disk = FaultyDisk(tmp_path / "disk")
    path = disk.folder / "secrets"
    environment = {**disk.environment(), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", ADD, str(path)], env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.stdout.split() == ["0", "1", "2"]
    disk.after_power_cut()
    file = SecretFile(path)
    assert [file.find(f"{number:064x}") for number in range(3)] == [bytes([number]) * 32 for number in range(3)]
