"""Read a population of compliance types from a TOML file.

`arms` names the arms. Each `[[compliance_type]]` has a `name`, a `probability`, what it `takes` and its mean `reward`
for each arm that it takes, or one for all. `takes` maps every chosen arm to the arm then taken, or is "as told";
with two arms it may instead be the word never-taker, always-taker, complier or defier, and is optional if it is the
compliance type's name.
`data/example.toml` beside this module has three arms. ::

    name = "rich and poor"      # optional; by default the file's name
    arms = ["control", "treatment"]

    [[compliance_type]]
    name = "rich"
    probability = 0.5
    takes = "always-taker"
    reward = { treatment = 0.75 }

    [[compliance_type]]
    name = "poor"
    probability = 0.5
    takes = { control = "control", treatment = "treatment" }
    reward = { control = 0.5, treatment = 0.25 }
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from adhere.checks import check_arms
from adhere.errors import InputError, nearest
from adhere.files import unreadable
from adhere.populations.compliance_type import ComplianceType
from adhere.populations.compliance_types import ComplianceTypes


def read_compliance_types(path: str | Path) -> ComplianceTypes:
    """The population that a TOML file describes."""
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise unreadable("file", path, error) from None
    except UnicodeDecodeError as error:
        raise InputError(str(path), error.object[error.start : error.end], "UTF-8 text") from None
    except (ValueError, RecursionError) as error:  # invalid TOML, a number too long or a list too deep
        raise InputError(str(path), str(error), "valid TOML") from None
    try:
        return _types(document, path.stem)
    except InputError as error:
        raise InputError(f"{path}, {error.field}", error.value, error.expected) from None


def _types(document: Mapping[str, Any], default_name: str) -> ComplianceTypes:
    _check_keys("top level", document, required=("arms", "compliance_type"), optional=("name",))
    arms = check_arms(_of_type("arms", document["arms"], list, 'a list of names, like ["control", "treatment"]'))
    tables = _of_type(
        "compliance_type", document["compliance_type"], list, "one [[compliance_type]] table for each compliance type"
    )
    name = _of_type("name", document.get("name", default_name), str, "a name in quotes")
    return ComplianceTypes(
        name, arms, [_compliance_type(number, table, arms) for number, table in enumerate(tables, start=1)]
    )


def _compliance_type(number: int, given: object, arms: tuple[str, ...]) -> ComplianceType:
    where = f"compliance type {number}"
    table = _of_type(where, given, dict, "a [[compliance_type]] table")
    always = ("name", "probability", "reward")
    if len(arms) == 2:
        _check_keys(where, table, required=always, optional=("takes",))
    else:  # the four behaviours have names only when there are two arms
        _check_keys(where, table, required=(*always, "takes"))
    return ComplianceType(table["name"], table["probability"], table.get("takes", ()), table["reward"])


def _check_keys(
    where: str, table: Mapping[str, Any], required: Collection[str] = (), optional: Collection[str] = ()
) -> None:
    for key in table:
        if key not in {*required, *optional}:
            raise InputError(where, key, nearest(key, [*required, *optional]))
    for key in required:
        if key not in table:
            raise InputError(where, ", ".join(table), f"also the key {key}")


def _of_type(where: str, value: object, kind: type, expected: str) -> Any:
    if not isinstance(value, kind):
        raise InputError(where, value, expected)
    return value
