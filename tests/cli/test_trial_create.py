"""A trial created from the file of its design, and verified against it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from adhere.store import open_store
from adhere.trial.design_file import load_design
from adhere.trial.events import Created, created_event
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
    done = in_this_process(capsys, "trial", "create", str(file), "--into", database, "--seed", "7")
    assert done.out.splitlines() == [f"headache: created in {database}", f"design {design.digest}"]
    assert "note: stopping: this design has 2 looks, and nothing that could stop its trial" in done.err
    same = in_this_process(capsys, "trial", "create", str(file), "--into", database)
    assert same.out.startswith(f"headache: is in {database} already; nothing changed\ndesign ")
    store = open_store(database)
    held = in_this_process(capsys, "trial", "create", str(file), "--into", database)
    check_complaint(held, "is being written by another process", "POST /trials", "Client.create_trial_from")
    assert "token" not in held.err
    with store.reading() as view:
        created = created_event(view, 1)
    store.close()
    assert (created.design, created.seed, created.design_digest) == (design, 7, design.digest)
    again = in_this_process(capsys, "trial", "create", str(file), "--into", database, "--seed", "8")
    check_complaint(again, "there is a trial 'headache' with another seed already")
    verified = in_this_process(capsys, "trial", "verify", database, "--design", str(file)).out
    assert f"as they were written\nit is the design in {file}, digest {design.digest}\nhead " in verified
    other.write_text(msgspec.structs.replace(design, n_patients=200).to_json())
    differs = in_this_process(capsys, "trial", "verify", database, "--design", str(other))
    assert (differs.status, "seed" in differs.err) == (1, False)
    assert f"headache, record 1: it is not the design in {other}: n_patients is 100, there 200" in differs.err


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (DESIGN.replace("50", "500"), (), "looks.every: got 500, expected a number of patients from 1 to"),
        (DESIGN + "seed = 3\n", (), "a design has no seed"),
        (DESIGN + "blinded = true\n", ("--seed", "3"), "--seed: got 3, expected none: a blinded trial draws its own"),
    ],
)  # fmt: skip
def test_what_cannot_be_created_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, options: tuple[str, ...], said: str
) -> None:
    file, database = tmp_path / "design.toml", tmp_path / "adhere.db"
    file.write_text(text)
    check_complaint(in_this_process(capsys, "trial", "create", str(file), "--into", str(database), *options), said)
    assert not database.exists()


def test_a_design_that_was_changed_in_its_record_is_seen() -> None:
    created, *others = Live("thompson", n_patients=10).events()
    assert isinstance(created, Created)
    changed = msgspec.structs.replace(created, design=msgspec.structs.replace(created.design, n_patients=11))
    assert str(replay_of([changed, *others]).difference) == "record 1: the digest in it is not that of its design"
    assert replay_of([created, *others]).difference is None
