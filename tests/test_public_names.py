"""The names a user imports from adhere: those that are looked up when used are those that a type checker sees."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adhere
from adhere.policies import all_policies
from parsing import parsed


def test_type_checkers_see_the_names_there_are() -> None:
    imports = [node for node in ast.walk(parsed(inspect.getsource(adhere))) if isinstance(node, ast.ImportFrom)]
    seen = {(alias.asname, node.module) for node in imports for alias in node.names if alias.asname}
    assert seen == set(adhere._HOMES.items())


def test_type_checkers_see_policies_by_the_names_they_have() -> None:
    """A class that is not listed for them is there, too; to a type checker it is Any."""
    imports = [node for node in ast.walk(parsed(inspect.getsource(all_policies))) if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: node.module for node in imports for alias in node.names if alias.asname}
    assert seen.items() <= {name: cls.__module__ for name, cls in all_policies.CLASSES.items()}.items()
    assert {"Thompson", "Floor", "HierarchicalBandit"} <= seen.keys() <= set(adhere.__all__)


def test_every_public_name_is_there() -> None:
    assert dir(adhere) == sorted(adhere.__all__)
    assert all(getattr(adhere, name) is not None for name in adhere.__all__)
    assert {"Trial", "simulate", "__version__"} <= set(adhere.__all__)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="module 'adhere' has no attribute 'simulat'"):
        _ = adhere.simulat


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, and how every public class is made but exceptions, which may be about any value."""
    for name in adhere.__all__:
        public = getattr(adhere, name)
        if inspect.isfunction(public):
            yield name, public
        elif (
            inspect.isclass(public)
            and not issubclass(public, Exception)
            and inspect.isfunction(vars(public).get("__init__"))
        ):
            yield name, public.__init__


@pytest.mark.parametrize("name", [name for name, _ in public_functions()])
def test_every_argument_has_a_type_that_says_something(name: str) -> None:
    function = dict(public_functions())[name]
    given = {argument: str(kind) for argument, kind in inspect.get_annotations(function).items()}
    arguments = [one for one in inspect.signature(function).parameters if one != "self"]
    assert [one for one in arguments if one not in given or re.search(r"\b(object|Any)$", given[one])] == []


@pytest.mark.parametrize("name", [name for name in adhere.__all__ if inspect.isfunction(getattr(adhere, name))])
def test_every_function_explains_each_parameter(name: str) -> None:
    """In a section of its own, in NumPy's style."""
    function = getattr(adhere, name)
    section = inspect.cleandoc(function.__doc__ or "").partition("Parameters\n----------\n")[2]
    own = re.split(r"\n\n\w[\w ]*\n-+\n", section)[0]
    explained = re.findall(r"^\**(\w[\w, ]*?)(?: : .+)?\n    ", own, flags=re.MULTILINE)
    named = {one for line in explained for one in line.split(", ")}
    assert named == set(inspect.signature(function).parameters)
