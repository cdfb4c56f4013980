"""The page "which policy, which protocol?": its figures are those of the commands printed above them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from .running import in_this_process

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "which-policy.md").read_text(encoding="utf-8")
_EXAMPLE = re.compile(r"```sh\n(adhere simulate .*?)```\n(\|.*?)\n\n", re.DOTALL)
_FIGURE = re.compile(r"-?\d[\d.]* \[-?\d[^\]]*\]")


@pytest.mark.slow
def test_every_figure_comes_from_the_command_above_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # rows begin with the policy, not with its number
    examples = _EXAMPLE.findall(PAGE)
    assert len(examples) == 3
    found = 0
    for command, table in examples:
        words = shlex.split(command.replace("\\\n", " "))
        shown = in_this_process(capsys, *words[1:])
        assert shown.status == 0
        for row in table.splitlines()[2:]:
            policy = row.split("|")[1].strip(" `")
            assert policy in words
            for figure in _FIGURE.findall(row):
                # A row of the policy, on the population of its column.
                assert re.search(rf"^{re.escape(policy)}\s+{re.escape(figure)} ", shown.out, re.MULTILINE), figure
                found += 1
    assert found == len(_FIGURE.findall(PAGE)) == 6 * 2 + 5 + 4


def test_every_page_it_leads_to_is_there() -> None:
    for page in re.findall(r"\]\(([\w-]+\.md)", PAGE):
        assert (DOCS / page).is_file()
