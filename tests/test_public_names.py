"""The names a user imports from adhere: those that are looked up when used are those that a type checker sees."""

from __future__ import annotations

import ast
import inspect

import pytest

import adhere


def test_type_checkers_see_the_names_there_are() -> None:
    imports = [node for node in ast.walk(ast.parse(inspect.getsource(adhere))) if isinstance(node, ast.ImportFrom)]
    seen = {(alias.asname, node.module) for node in imports for alias in node.names if alias.asname}
    assert seen == set(adhere._HOMES.items())


def test_every_public_name_is_there() -> None:
    assert dir(adhere) == sorted(adhere.__all__)
    assert all(getattr(adhere, name) is not None for name in adhere.__all__)
    assert {"Trial", "simulate", "__version__"} <= set(adhere.__all__)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="module 'adhere' has no attribute 'simulat'"):
        _ = adhere.simulat
