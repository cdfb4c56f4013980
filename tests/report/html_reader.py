"""A page of HTML as a list of elements, to ask for texts and attributes."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "wbr"}


class Reader(HTMLParser):
    """A page as a list of elements, each with its text; refuses tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, dict(attrs), list[str]())
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, _, texts in self._open:
            texts.append(data)

    def texts(self, tag: str, **wanted: str) -> list[str]:
        """The texts of all elements of that tag with those attributes, in order; `_class` stands for class."""
        return [" ".join("".join(texts).split()) for found, _, texts in self._found(tag, wanted)]

    def attributes(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes, _ in self._found(tag, wanted)]

    def _found(self, tag: str, wanted: Mapping[str, str]) -> list[tuple[str, dict[str, str | None], list[str]]]:
        names = {name.lstrip("_"): value for name, value in wanted.items()}
        return [one for one in self.elements if one[0] == tag and names.items() <= one[1].items()]
