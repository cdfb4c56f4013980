"""Sentences about a design: templates in `sentences.toml` that are filled in with facts."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def _texts() -> dict[str, str]:
    return tomllib.loads((files("adhere.design") / "sentences.toml").read_text(encoding="utf-8"))


def say(name: str, /, **facts: object) -> str:
    """Return a sentence of `sentences.toml`, filled in with facts.

    >>> say("z_inferiority", at=2.5)
    'An arm is dropped for inferiority at a z of minus 2.5 or less.'
    """
    return _texts()[name].format(**facts)
