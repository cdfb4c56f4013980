"""Write the reference pages that follow from the program itself, each time the site is built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from command_line import command_line_page
from python_api import python_api_page
from sphinx.application import Sphinx

PAGES: dict[str, Callable[[], str]] = {
    "command-line": command_line_page,
    "python": python_api_page,
}


def write_pages(source: Path) -> None:
    """Write each page to reference/generated/, unless it is there and the same: Sphinx reads what changed."""
    folder = source / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        file, text = folder / f"{name}.md", page()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages now: Sphinx looks for its sources before it sends its first event."""
    write_pages(Path(app.srcdir))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
