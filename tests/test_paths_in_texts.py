"""Files that pages, docstrings and comments name are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "adhere"
_NAMED = re.compile(r"`((?:[\w.-]+/)+[\w-]+\.(?:py|toml|html|css|json))`")
_USERS = re.compile(r"^(report|arena|coverage|data|site-packages|\.?adhere-)/?")  # folders that commands write


def texts() -> dict[str, str]:
    """Pages, and sources for their docstrings and comments, by path."""
    files = [
        *ROOT.glob("*.md"),
        *(file for folder in ("docs", "src", "tests") for file in (ROOT / folder).rglob("*")),
    ]
    names = [str(file.relative_to(ROOT)) for file in files if file.suffix in (".md", ".py")]
    names.remove("CHANGELOG.md")  # which names files of their time
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in names}


def is_there(named: str, page: Path) -> bool:
    """Look below the root, the package and its packages, and beside the page."""
    places = [ROOT, PACKAGE, ROOT / "src", page.parent, *(one for one in PACKAGE.iterdir() if one.is_dir())]
    return any((place / named).exists() for place in places)


def test_files_that_texts_name_are_there() -> None:
    found = texts()
    assert len(found) > 100
    wrong = [
        f"{page}: {named}"
        for page, text in found.items()
        for named in _NAMED.findall(text)
        if not _USERS.match(named) and not is_there(named, ROOT / page)
    ]
    assert wrong == []
