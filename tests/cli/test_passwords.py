"""The address of a PostgreSQL has a password in it, which no command prints, wherever the address is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from .running import check_complaint, in_this_process

ADDRESS = "postgresql://adhere:hunter2@127.0.0.1:1/adhere"
COMMANDS = (
    *(("trial", name, ADDRESS) for name in ("list", "verify", "replay", "results", "accesses")),
    ("analyse", ADDRESS),
    ("analyse", "there.db", "--json", ADDRESS),
    ("analyse", "there.db", "--html", ADDRESS),
    ("trial", "explain", ADDRESS, "4K7T-9QXA-M98F-RJCB"),
    ("trial", "reveal", ADDRESS, "--reason", "over"),
    ("trial", "new-epoch", ADDRESS, "--reason", "gone"),
    ("trial", "export", ADDRESS, "out.csv"),
    ("trial", "export", "there.db", ADDRESS),
    ("trial", "export", "there.db", f"{ADDRESS}.csv"),
    ("trial", "results", "there.db", "--json", ADDRESS),
    ("trial", "backup", ADDRESS, "copy.db"),
    ("trial", "backup", "there.db", ADDRESS),
    ("trial", "restore", ADDRESS, "--into", "there.db"),
    ("trial", "accept-loss", ADDRESS, "--reason", "gone"),
    ("trial", "restore", "there.db", "--into", ADDRESS),
    ("trial", "import", ADDRESS, "--into", "there.db"),
    ("trial", "import", "there.db", "--into", ADDRESS),
    ("token", "list", "--data", ADDRESS),
    ("token", "list", "--database-url", ADDRESS),
    ("token", "list", "--database-url", ADDRESS.replace("postgresql", "mysql")),
    ("serve", "--data", ADDRESS),
    ("serve", "--database-url", ADDRESS.replace("postgresql", "mysql")),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_prints_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.db").write_bytes(b"")
    told = in_this_process(capsys, *command)
    check_complaint(told)
    assert "hunter2" not in told.err
    if command[1] in ("backup", "restore"):
        assert "pg_dump" in told.err or "pg_restore" in told.err


def test_no_command_prints_a_token_from_a_file_given_by_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "admin-token.csv").write_text("adh_zFSGO-0123456789abcdefghijklmnop\n")
    told = in_this_process(capsys, "analyse", str(tmp_path / "admin-token.csv"))
    check_complaint(told)
    assert "adh_…" in told.err
    assert "zFSGO" not in told.err
