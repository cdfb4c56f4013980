"""Write what the reference takes from the program itself, each time the site is built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from command_line import command_line_page
from design_file import design_fields
from docstring_formulas import keep_formulas
from http_api import http_page
from log_events import events_page
from policies_page import policies_list
from python_api import policies, python_api_page
from results_tables import characteristics_table, columns_tables, names_tables
from service_tables import metrics_table, roles_tables, settings_tables
from sphinx.application import Sphinx

# Pages, and parts that a hand-written page includes.
FILES: dict[str, Callable[[], str]] = {
    "command-line.md": command_line_page,
    "python.md": python_api_page,
    "characteristics.inc": characteristics_table,
    "columns.inc": columns_tables,
    "design-file.inc": design_fields,
    "http.inc": http_page,
    "log-events.inc": events_page,
    "metrics.inc": metrics_table,
    "names.inc": names_tables,
    "policies.inc": policies_list,
    "roles.inc": roles_tables,
    "settings.inc": settings_tables,
}


def write_files(source: Path) -> None:
    """Write each file to reference/generated/, unless it is there and the same: Sphinx reads what changed."""
    folder = source / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in FILES.items():
        file, text = folder / name, made()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the files now: Sphinx looks for its sources before it sends its first event."""
    write_files(Path(app.srcdir))
    app.connect("autodoc-process-docstring", keep_formulas, priority=400)  # before numpydoc, which has 500
    app.config.autosummary_context = {"policies": policies()}
    return {"parallel_read_safe": True, "parallel_write_safe": True}
