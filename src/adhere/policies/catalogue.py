"""Every policy by name: the built-in ones and those a user's file declares."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from adhere.errors import InputError
from adhere.policies.policy import MAX_DEPTH, Learner, Policy, parameters_of
from adhere.policies.registry import lookup


def make(name: str, arguments: list[object], options: Mapping[str, object]) -> Policy:
    """A policy from its name and the values of its fields, with an error that names what does not fit."""
    cls: type[Policy] = lookup(name)
    fields = parameters_of(cls)
    if len(arguments) > len(fields):
        raise InputError(f"policy {name}", arguments[len(fields)], f"at most {len(fields)} arguments")
    values = dict(zip(fields, arguments, strict=False))
    allowed = [*fields, "protocol"] if issubclass(cls, Learner) else fields
    for key, value in options.items():
        if key not in allowed:
            raise InputError(f"policy {name}", f"{key}=…", f"one of {', '.join(allowed)}")
        if key in values:
            raise InputError(f"policy {name}", f"{key} twice", "each option once")
        values[key] = value
    return cls(**values)


def from_json(data: object, depth: int = 1) -> Policy:
    """The policy that `to_json` wrote.

    >>> str(from_json({"name": "exp3", "gamma": 0.1, "protocol": "actual"}))
    'exp3(gamma=0.1)/actual'
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("name"), str):
        raise InputError("policy", data, "an object with a name, e.g. {'name': 'thompson'}")
    if depth > MAX_DEPTH:
        raise InputError("policy", data["name"], f"at most {MAX_DEPTH} policies inside each other")
    options = {str(key): _value_from_json(str(key), value, depth + 1) for key, value in data.items() if key != "name"}
    return make(str(data["name"]).strip().lower(), [], options)


def _value_from_json(key: str, value: Any, depth: int) -> object:
    if key == "protocol" or not isinstance(value, (Mapping, list)):
        return value
    return [from_json(item, depth) for item in value] if isinstance(value, list) else from_json(value, depth)


def import_policies(path: str | Path) -> ModuleType:
    """Run a Python file that declares policies, so that their names can be used."""
    file = Path(path)
    if not file.is_file() or file.suffix != ".py":
        raise InputError("import", str(path), "an existing file whose name ends in .py")
    file = file.resolve()
    # A name of its own for each file: two files called policy.py must not replace each other.
    name = f"{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # noqa: PT018  (a .py file always has both)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(file.parent) not in sys.path:  # as for a script: it may import what lies beside it
        sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, InputError):
            raise
        raise InputError("import", str(path), f"a file that runs, but it raised {error!r}") from error
    return module
