"""A trial created from the file of its design, and verified against it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from adhere import Trial
from adhere.design.design_file import load_design
from adhere.store import open_store
from adhere.trial.domain.events import Created, created_event
from adhere.trial.secret.trial_secret import commitment_to
from adhere.trial.writing.creation import WHY_NO_SEED
from cli.running import check_complaint, in_this_process
from trial.live import Live, replay_of

DESIGN = (
    'name = "headache"\npolicy = "thompson/actual"\narms = ["walk", "aspirin"]\nn_patients = 100\nlooks.every = 50\n'
)


def test_a_design_becomes_a_trial_that_is_verified_against_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, database, other = tmp_path / "headache.toml", str(tmp_path / "adhere.db"), tmp_path / "other.json"
    file.write_text(DESIGN + "[scenarios]\neffect = 0.1\n")
    design = load_design(file)
    done = in_this_process(capsys, "trial", "create", str(file), "--into", database)
    *lines, committed = done.out.splitlines()
    assert lines == [f"headache: created in {database}", f"design {design.digest}"]
    assert "note: stopping: this design has 2 looks, but no rule that could stop its trial" in done.err
    same = in_this_process(capsys, "trial", "create", str(file), "--into", database)
    assert same.out == f"headache: is in {database} already; nothing changed\n{lines[1]}\n{committed}\n"
    store = open_store(database)
    held = in_this_process(capsys, "trial", "create", str(file), "--into", database)
    check_complaint(held, "is being written by another process", "POST /trials", "Client.create_trial_from")
    assert "token" not in held.err
    with store.reading() as view:
        created = created_event(view, 1)
        secret = view.secret(created.commitment)
    store.close()
    assert (created.design, created.seed, created.design_digest) == (design, None, design.digest)
    assert secret is not None
    assert committed == f"commitment {created.commitment}" == f"commitment {commitment_to(secret)}"
    again = in_this_process(capsys, "trial", "create", str(file), "--into", database, "--seed", "8")
    check_complaint(again, f"--seed: got 8, expected none: {WHY_NO_SEED}")
    verified = in_this_process(capsys, "trial", "verify", database, "--design", str(file)).out
    assert f"\nit is the design in {file}, digest {design.digest}\nhead " in verified
    other.write_text(msgspec.structs.replace(design, n_patients=200).to_json())
    differs = in_this_process(capsys, "trial", "verify", database, "--design", str(other))
    assert (differs.status, "seed" in differs.err) == (1, False)
    assert f"headache, record 1: it is not the design in {other}: n_patients is 100, there 200" in differs.err


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (DESIGN.replace("50", "500"), (), "looks.every: got 500, expected a number of patients from 1 to"),
        (DESIGN + "seed = 3\n", (), "a design has no seed"),
        (DESIGN, ("--seed", "3"), f"--seed: got 3, expected none: {WHY_NO_SEED}"),
        (DESIGN + "blinded = true\n", ("--seed", "3"), f"--seed: got 3, expected none: {WHY_NO_SEED}"),
        (DESIGN + "rehearsal = true\n", ("--seed", "-3"), "seed: got -3, expected a whole number from 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_created_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, options: tuple[str, ...], said: str
) -> None:
    file, database = tmp_path / "design.toml", tmp_path / "adhere.db"
    file.write_text(text)
    check_complaint(in_this_process(capsys, "trial", "create", str(file), "--into", str(database), *options), said)
    assert not database.exists()


def test_two_trials_of_a_design_have_secrets_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "headache.toml"
    file.write_text(DESIGN)
    databases = [str(tmp_path / name) for name in ("one.db", "two.db")]
    said = [in_this_process(capsys, "trial", "create", str(file), "--into", into).out for into in databases]
    assert len({out.splitlines()[-1] for out in said}) == 2


def test_a_rehearsal_may_have_a_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, database = tmp_path / "headache.toml", str(tmp_path / "adhere.db")
    file.write_text(DESIGN + "rehearsal = true\n")
    create = ("trial", "create", str(file), "--into", database)
    done = in_this_process(capsys, *create, "--seed", "7")
    assert done.out.splitlines() == [f"headache: created in {database}", f"design {load_design(file).digest}"]
    with closing(open_store(database, read_only=True)) as store, store.reading() as view:
        created = created_event(view, 1)
    assert (created.seed, created.commitment) == (7, "")
    check_complaint(
        in_this_process(capsys, *create, "--seed", "8"), "trial 'headache' with another seed already exists"
    )
    assert in_this_process(capsys, *create).out.startswith(f"headache: is in {database} already; nothing changed\n")


def test_an_import_takes_no_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, log, into = tmp_path / "t.csv", tmp_path / "t.log", tmp_path / "adhere.db"
    table.write_text("USUBJID,TRTP\np1,walk\np2,aspirin\n")
    Trial("thompson", ["walk", "aspirin"]).save(log)
    for path, options in ((table, ("--name", "t", "--policy", "thompson")), (log, ())):
        said = in_this_process(capsys, "trial", "import", str(path), "--into", str(into), *options, "--seed", "1")
        check_complaint(said, f"--seed: got 1, expected none: {WHY_NO_SEED}")
        assert not into.exists()


def test_a_table_that_is_imported_gets_a_secret_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, into = tmp_path / "t.csv", tmp_path / "adhere.db"
    table.write_text("USUBJID,TRTP\np1,walk\np2,aspirin\n")
    options = ("--into", str(into), "--name", "t", "--policy", "thompson")
    assert in_this_process(capsys, "trial", "import", str(table), *options).status == 0
    with closing(open_store(into, read_only=True)) as store, store.reading() as view:
        created = created_event(view, 1)
        secret = view.secret(created.commitment)
    assert created.seed is None
    assert secret is not None
    assert created.commitment == commitment_to(secret)


def test_a_design_that_was_changed_in_its_record_is_seen() -> None:
    created, *others = Live("thompson", n_patients=10).events()
    assert isinstance(created, Created)
    changed = msgspec.structs.replace(created, design=msgspec.structs.replace(created.design, n_patients=11))
    assert str(replay_of([changed, *others]).difference) == "record 1: its digest is not the digest of its design"
    assert replay_of([created, *others]).difference is None
