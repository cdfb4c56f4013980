"""The hand-written pages of the site and the blocks of code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_MADE = ("_build", "_ext", "_templates", "examples", "generated", "jupyter_execute", "internals")
_BLOCK = re.compile(r"^(`{3,}|:{3,})(.*?)\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: what stands after the fence, and its text."""

    kind: str
    text: str


def written_pages() -> list[Path]:
    """All pages that somebody wrote."""
    pages = [page for page in DOCS.rglob("*.md") if not set(page.relative_to(DOCS).parts) & set(_MADE)]
    return sorted(page for page in pages if page.parent != DOCS or page.stem in ("index", "what-adhere-does-not-do"))


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(kind.strip(), body) for _, kind, body in _BLOCK.findall(text)]


def n_words(page: Path) -> int:
    """The number of words of a page, without its code."""
    prose = _BLOCK.sub("", _FRONT_MATTER.sub("", page.read_text(encoding="utf-8")))
    return len(prose.split())
