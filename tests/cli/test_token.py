"""adhere token: make, list and revoke tokens of a store, without the service."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from adhere.access.tokens import Tokens
from adhere.store import open_store
from blocked import run_without
from service.serving import in_file

from .running import check_complaint, in_this_process


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "adhere.db"
    open_store(path).close()
    return str(path)


def test_the_life_of_a_token(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    for_site = ("--role", "site", "--site", "Leeds", "--label", "the nurse", "--data", file)
    made = in_this_process(capsys, "token", "make", *for_site)
    assert made.out.startswith("token 1, shown only now: adh_")
    text = made.out.split()[-1].encode()
    store = open_store(file, read_only=True)
    holder = Tokens(store).find(text)
    assert holder is not None
    assert (holder.id, holder.role, holder.site, holder.trial) == (1, "site", "Leeds", None)
    store.close()
    listed = in_this_process(capsys, "token", "list", "--data", file).out
    assert listed.startswith("1  site  Leeds  the nurse  valid  made 2")
    assert in_this_process(capsys, "token", "revoke", "1", "--data", file).out == "token 1 is revoked\n"
    assert "  revoked  made 2" in in_this_process(capsys, "token", "list", "--data", file).out
    store = open_store(file, read_only=True)
    assert Tokens(store).find(text) is None
    store.close()


def test_mistakes(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    make = ("token", "make", "--label", "x", "--data", file)
    roles = "site, coordinator, statistician, admin or metrics"
    check_complaint(in_this_process(capsys, *make, "--role", "king"), "role: got 'king'", roles)
    check_complaint(in_this_process(capsys, *make, "--role", "site"), "site", "the name of the site")
    check_complaint(in_this_process(capsys, *make, "--role", "site", "--trial", "t", "--site", "s"), "trial: got 't'")
    revoke = ("token", "revoke", "--data", file)
    check_complaint(in_this_process(capsys, *revoke, "7"), "token: got 7", "the number of a token")
    check_complaint(in_this_process(capsys, *revoke, "first"), "NUMBER", "'first'", "a whole number")


def test_a_site_that_looks_like_another_must_be_meant(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    make = ("token", "make", "--role", "site", "--label", "x", "--data", file, "--site")
    in_this_process(capsys, *make, "Edinburgh")
    refused = in_this_process(capsys, *make, "edinburgh")
    check_complaint(refused, "there is a site 'Edinburgh', which looks like 'edinburgh'", "another site (--new-site)")
    assert "token 2" in in_this_process(capsys, *make, "edinburgh", "--new-site").out


def test_no_service_extra_is_needed(file: str) -> None:
    code = f"""
from adhere.cli.main import main
data = ["--data", {file!r}]
statuses = [main(["token", "make", "--role", "admin", "--label", "boss", *data]), main(["token", "list", *data])]
assert statuses == [0, 0], statuses
"""
    extras = ("starlette", "uvicorn", "uvloop", "httptools", "prometheus_client", "psycopg", "httpcore")
    assert "1  admin  -  boss" in run_without(*extras, code=code)


def test_a_mistyped_file_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ("--data", str(tmp_path / "typo.db"))
    for command in (
        ["make", "--role", "admin", "--label", "x"],
        ["list"],
        ["revoke", "1"],
        ["rotate", "1"],
        ["reset"],
    ):
        check_complaint(in_this_process(capsys, "token", *command, *data), "typo.db does not exist")
    assert list(tmp_path.iterdir()) == []


def test_a_token_that_ends_and_one_in_its_place(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    make = ("token", "make", "--role", "statistician", "--label", "Ada", "--data", file)
    assert in_this_process(capsys, *make, "--expires", "90d").status == 0
    assert in_this_process(capsys, *make, "--expires", f"{datetime.now(UTC).year + 1}-01-31").status == 0
    for wrong, says in (("soon", "a span such as 90d"), ("2001-01-01", "in the future"), ("0d", "in the future")):
        check_complaint(in_this_process(capsys, *make, "--expires", wrong), "'", says)
    rotated = in_this_process(capsys, "token", "rotate", "1", "--overlap", "1h", "--data", file).out
    assert rotated.startswith("token 1 ends in 1h\ntoken 3, shown only now: adh_")
    rotated = in_this_process(capsys, "token", "rotate", "3", "--data", file).out
    assert rotated.startswith("token 3 is revoked\ntoken 4, shown only now: adh_")
    listed = in_this_process(capsys, "token", "list", "--data", file).out.splitlines()
    assert [line.split("  ")[4] for line in listed] == ["valid", "valid", "revoked", "valid"]
    assert all("  expires 2" in line for line in listed)
    check_complaint(
        in_this_process(capsys, "token", "rotate", "3", "--data", file), "only a valid one can be rotated"
    )
    check_complaint(in_this_process(capsys, "token", "rotate", "4", "--overlap", "1y", "--data", file), "--overlap")


def test_the_way_back_in(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store(file)
    Tokens(store).make_first()
    busy = "is being written by another process"
    check_complaint(in_this_process(capsys, "token", "reset", "--data", file), busy, "adhere token make --server URL")
    store.close()
    done = in_this_process(capsys, "token", "reset", "--data", file).out
    assert done.startswith("token 2, an admin's, shown only now: adh_")
    assert done.endswith("Still valid, and to be revoked if lost: admin token 1 (adhere token revoke)\n")


def test_through_a_running_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with in_file(tmp_path / "trials.db") as service:
        monkeypatch.setenv("ADHERE_TOKEN", service.admin)
        server = ("--server", service.url)
        make = ("token", "make", "--role", "statistician", "--label", "Ada")
        made = in_this_process(capsys, *make, "--expires", "90d", *server).out
        assert made.startswith("token 2, shown only now: adh_")
        listed = in_this_process(capsys, "token", "list", *server).out.splitlines()
        of_site = ("token", "make", "--role", "site", "--label", "x", *server, "--site")
        assert in_this_process(capsys, *of_site, "Oslo").status == 0
        check_complaint(in_this_process(capsys, *of_site, "oslo"), "another site (--new-site)")
        assert listed[1].startswith("2  statistician  -  Ada  valid  made 2")
        assert in_this_process(capsys, "token", "rotate", "2", *server).out.startswith("token 2 is revoked\ntoken 4")
        assert in_this_process(capsys, "token", "revoke", "4", *server).out == "token 4 is revoked\n"
        check_complaint(in_this_process(capsys, "token", "revoke", "1", *server), "is the only valid one of an admin")
        check_complaint(in_this_process(capsys, "token", "list", *server, "--data", "a.db"), "either --server, or")
        monkeypatch.setenv("ADHERE_TOKEN", f" {service.admin}\n")
        in_this_process(capsys, "token", "list", *server)
        monkeypatch.delenv("ADHERE_TOKEN")  # and no terminal to ask for it
        check_complaint(in_this_process(capsys, "token", "list", *server), "set ADHERE_TOKEN to an admin's token")
        monkeypatch.setenv("ADHERE_TOKEN", "not one")
        check_complaint(in_this_process(capsys, "token", "list", *server), "ADHERE_TOKEN: got text with a space")
        monkeypatch.setenv("ADHERE_TOKEN", "adh_wrong")
        check_complaint(in_this_process(capsys, "token", "list", *server), f"{service.url}: 401: this token")
