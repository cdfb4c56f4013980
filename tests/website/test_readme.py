"""The figures in the README are those of the commands above them, and its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cli.running import in_this_process

from .pages import ROOT, blocks


@pytest.mark.slow
def test_every_line_of_output_is_printed_by_the_commands_above_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    commands: list[str] = []
    n_checked = 0
    for block in blocks(ROOT / "README.md"):
        if block.kind == "sh":
            commands = re.findall(
                r"^\.venv/bin/adhere ((?:simulate|analyse) (?:.*\\\n)*.*)$", block.text, re.MULTILINE
            )
        elif block.kind == "text":
            printed = ""
            for command in commands:
                shown = in_this_process(capsys, *shlex.split(command.replace("\\\n", ""), comments=True))
                assert shown.status == 0
                printed += shown.out
            lines = [line.rstrip() for line in printed.splitlines()]
            for line in block.text.splitlines():
                assert line.rstrip() in lines, line
                n_checked += 1
    assert n_checked > 10


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_every_page_that_it_links_to_is_there(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)[)#]", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
