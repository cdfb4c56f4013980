"""Sentences of an analysis: text with placeholders for facts, from `sentences.toml`."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def texts(file: str) -> dict[str, Any]:
    """Read a TOML file of this package, and return its texts by name."""
    found = files("adhere.analysis").joinpath(file).read_text(encoding="utf-8")
    return tomllib.loads(found)


def say(name: str, **facts: object) -> str:
    """Return a sentence of `sentences.toml`, with its placeholders filled in.

    >>> say("drift_without_sequence")
    'The effect changed over time (drift), so no single number describes it.'
    """
    sentence: str = texts("sentences.toml")[name]
    return sentence.format(**facts)
