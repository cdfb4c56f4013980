"""The forms of a page, filled in as somebody might who reads nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_TEXTS = {"number": "1", "date": "2026-03-01", "datetime-local": "2026-03-01T09:30"}


@dataclass
class Form:
    """Where a form is sent, and what: the first choice of each group, and a word where there is nothing."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


def forms_of(html: str) -> list[Form]:
    """The forms of a page that are sent by POST, or by htmx as such."""
    reader = _Reader()
    reader.feed(html)
    return reader.forms


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._inside = False
        self._select = ""

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in given}
        if tag == "form":
            action = has.get("hx-post") or (has.get("action", "") if has.get("method", "").lower() == "post" else "")
            self._inside = bool(action)
            if action:
                self.forms.append(Form(action))
        elif self._inside and tag == "option" and self._select:
            self.forms[-1].fields.setdefault(self._select, has.get("value", ""))
        elif tag == "select":
            self._select = has.get("name", "")
        elif self._inside and has.get("name") and tag in ("input", "textarea", "button"):
            self._fill(has)

    def _fill(self, has: dict[str, str]) -> None:
        value = has.get("value", "on" if has.get("type") == "checkbox" else "")
        word = _TEXTS.get(has.get("type", "text"), f"a {has['name']}")
        self.forms[-1].fields.setdefault(has["name"], value or word)

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"
        self._select = "" if tag == "select" else self._select
