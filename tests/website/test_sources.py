"""Bars that the pages of the site keep, read from their sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adhere.decode_errors import _LIMITS, _NOT_SUPPORTED

from .pages import DOCS, ROOT, Block, blocks, n_words, written_pages

MAX_WORDS = 1500
MAX_README_LINES = 120
MAX_UNRELEASED_LINES = 60
RUN = ("{code-cell}", "sh")  # by the build, and by test_shell_blocks.py
SHOWN = (
    "text",
    "toml",
    "json",
    "csv",
    "ini",
    "nginx",
    "{eval-rst}",
    "{toctree}",
    "{grid}",
    "{grid-item-card}",
    "{figure}",
    "{literalinclude}",  # a file of docs/examples, which other tests run
    "{image}",
    "{literalinclude}",
    "{include}",
    "{list-table}",
    "{math}",
    "{note}",
    "{seealso}",
    "{tip}",
    "{warning}",
)
NOT_RUN = ":caption: Not run when this site is built: "


@pytest.mark.parametrize("page", written_pages(), ids=lambda page: page.name)
def test_a_page_is_short(page: Path) -> None:
    assert n_words(page) <= MAX_WORDS


def says_why_not(block: Block) -> bool:
    return block.kind.startswith("{code-block}") and block.text.startswith(NOT_RUN)


@pytest.mark.parametrize("page", written_pages(), ids=lambda page: page.name)
def test_code_is_run_or_says_why_not(page: Path) -> None:
    for block in blocks(page):
        words = block.kind.split()
        assert words, f"a block without a language: {block.text[:60]!r}"
        assert words[0] in (*RUN, *SHOWN) or says_why_not(block) or block.file, f"{block.kind}: {block.text[:60]!r}"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MAX_README_LINES


def test_the_changelog_of_the_next_release_is_short() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = text.partition("## Unreleased\n")[2].partition("\n## ")[0]
    assert 0 < len(unreleased.splitlines()) <= MAX_UNRELEASED_LINES


def test_what_adhere_does_not_do_names_every_feature_that_a_message_calls_unsupported() -> None:
    page = (DOCS / "what-adhere-does-not-do.md").read_text(encoding="utf-8")
    assert ROOT / _LIMITS == DOCS / "what-adhere-does-not-do.md"
    letters = re.sub(r"[^a-z]", "", page.lower())
    for names in _NOT_SUPPORTED:
        assert any(name in letters for name in names.split()), names


def test_every_picture_is_shown_and_every_photograph_is_taken_by_the_script() -> None:
    texts = "".join(page.read_text(encoding="utf-8") for page in (*DOCS.rglob("*.md"), ROOT / "README.md"))
    pictures = sorted((DOCS / "pictures").rglob("*.png"))
    assert [picture.name for picture in pictures if picture.name not in texts] == []
    script = (ROOT / "scripts/screenshots.py").read_text(encoding="utf-8")
    photographs = {picture.stem for picture in pictures if picture.parent.name == "pages"}
    assert photographs == set(re.findall(r'Shot\("([\w-]+)"', script))
