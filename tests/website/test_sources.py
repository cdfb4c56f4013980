"""Bars that the pages of the site keep, read from their sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pages import Block, blocks, n_words, written_pages

MAX_WORDS = 1500
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
    "{image}",
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
