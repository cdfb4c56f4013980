"""Every sentence in `sentences.toml` is said somewhere, with the facts that it has places for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from adhere.analysis.sentences import texts
from parsing import parsed

SOURCE = Path(__file__).parents[2] / "src" / "adhere" / "analysis"
SENTENCES = texts("sentences.toml")


def nodes() -> Iterator[ast.AST]:
    for file in SOURCE.rglob("*.py"):
        yield from ast.walk(parsed(file.read_text(encoding="utf-8")))


def places(sentence: str) -> set[str]:
    """The facts that a sentence has places for."""
    return {name.partition(".")[0] for _, name, _, _ in Formatter().parse(sentence) if name}


def test_every_sentence_is_said_somewhere() -> None:
    words = {node.value for node in nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    made = {f"inequality_{found}" for found in ("refuted", "doubtful", "kept")}
    assert SENTENCES.keys() - words == made


def test_whoever_says_a_sentence_gives_its_facts() -> None:
    n_checked = 0
    for node in nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
            name = node.args[0]
            given = {one.arg for one in node.keywords}  # None: the facts of a dictionary
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and None not in given:
                assert places(SENTENCES[name.value]) == given, name.value
                n_checked += 1
    assert n_checked > 80
