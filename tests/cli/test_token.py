"""adhere token: make, list and revoke tokens of a store, without the service."""

from __future__ import annotations

from pathlib import Path

import pytest

from adhere.store import open_store
from adhere.tokens import Tokens
from blocked import run_without

from .running import check_complaint, in_this_process


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "adhere.db")


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
    assert listed.startswith("1  site  Leeds  the nurse  made 2")
    assert listed.endswith("  good\n")
    assert in_this_process(capsys, "token", "revoke", "1", "--data", file).out == "token 1 is revoked\n"
    assert "  revoked 2" in in_this_process(capsys, "token", "list", "--data", file).out
    store = open_store(file, read_only=True)
    assert Tokens(store).find(text) is None
    store.close()


def test_mistakes(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    make = ("token", "make", "--label", "x", "--data", file)
    check_complaint(
        in_this_process(capsys, *make, "--role", "king"), "role: got 'king'", "site, statistician, admin or metrics"
    )
    check_complaint(in_this_process(capsys, *make, "--role", "site"), "site", "the name of the site")
    check_complaint(in_this_process(capsys, *make, "--role", "site", "--trial", "t", "--site", "s"), "trial: got 't'")
    revoke = ("token", "revoke", "--data", file)
    check_complaint(in_this_process(capsys, *revoke, "7"), "token: got 7", "the number of a token")
    check_complaint(in_this_process(capsys, *revoke, "first"), "NUMBER", "'first'", "a whole number")


def test_no_service_extra_is_needed(file: str) -> None:
    code = f"""
from adhere.cli.main import main
data = ["--data", {file!r}]
statuses = [main(["token", "make", "--role", "admin", "--label", "boss", *data]), main(["token", "list", *data])]
assert statuses == [0, 0], statuses
"""
    extras = ("starlette", "uvicorn", "uvloop", "httptools", "prometheus_client", "psycopg", "urllib3")
    assert "1  admin  -  boss" in run_without(*extras, code=code)
