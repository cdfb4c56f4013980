"""The hand-written pages of the site and the blocks of code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Pages for the operators of a machine, in the order in which one test follows them (tests/deploy).
MACHINE_PAGES = [
    DOCS / name
    for name in (
        "how-to/install-and-run-the-service.md",
        "how-to/put-it-behind-nginx.md",
        "how-to/give-access.md",
        "how-to/monitor-the-service.md",
        "how-to/back-up-and-restore.md",
        "cards/runbook.md",
    )
]
_MADE = ("_build", "_ext", "_templates", "examples", "generated", "jupyter_execute")
_BLOCK = re.compile(r"^(`{3,}|:{3,})(.*?)\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_CAPTION = re.compile(r"\A:caption: (\S+\.\w+)\n\n")
_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: the words after the fence, its text, and whether it directly follows another block."""

    kind: str
    text: str
    follows: bool = False

    @property
    def file(self) -> str | None:
        """The file that the block is written to when the page is run: its caption, if that is one word."""
        caption = _CAPTION.match(self.text) if self.kind.startswith("{code-block}") else None
        return caption[1] if caption else None

    @property
    def body(self) -> str:
        """The text without options."""
        return _CAPTION.sub("", self.text, count=1)


def written_pages() -> list[Path]:
    """All pages that somebody wrote."""
    pages = [page for page in DOCS.rglob("*.md") if not set(page.relative_to(DOCS).parts) & set(_MADE)]
    return sorted(pages)


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found, end = [], -1
    for match in _BLOCK.finditer(text):
        found.append(Block(match[2].strip(), match[3], end >= 0 and not text[end : match.start()].strip()))
        end = match.end()
    return found


def n_words(page: Path) -> int:
    """The number of words of a page, without its code."""
    prose = _BLOCK.sub("", _FRONT_MATTER.sub("", page.read_text(encoding="utf-8")))
    return len(prose.split())
