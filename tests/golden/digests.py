"""What the goldens hold of values: text and whole numbers exactly, other numbers so that rounding may differ.

The last bits of a number depend on the processor and on its mathematical library (`log`, `exp`), so a digest of all
of its bits would hold on one kind of machine only. Numbers are compared with a tolerance instead: a few as they are,
many by sums of them with fixed weights, in which each has another weight.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .renames import in_old_names

FOLDER = Path(__file__).parent
BY_POLICY = ("simulations", "live_scripts")  # in policies/NAME.json
TOLERANCE = 1e-9  # relative; of a sum, to the sum of the numbers' sizes
_SMALLEST = 1e-12
with_bits = False  # whether fingerprints also hold a digest of all bits, to compare two checkouts on one machine
_STEPS = (math.sqrt(5) / 2 - 0.5, math.sqrt(2) - 1)  # whose multiples are spread evenly between whole numbers


def digest(value: Any) -> str:
    """A digest of a JSON value, equal only if all of it is: the order of keys does not matter."""
    text = json.dumps(in_old_names(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def fingerprint(value: Any) -> dict[str, Any]:
    """A JSON value with many numbers: a digest of all that is exact, and sums of the numbers with fixed weights."""
    numbers: list[float] = []
    shape = digest(_without_numbers(in_old_names(value), numbers))
    weighted = [[number * (0.5 + place * step % 1.0) for place, number in enumerate(numbers)] for step in _STEPS]
    size = math.fsum(map(abs, numbers))
    found = {"shape": shape, "n": len(numbers), "size": size, "sums": [math.fsum(products) for products in weighted]}
    return found | {"bits": digest(value)} if with_bits else found


def differences(found: Any, golden: Any, where: str = "") -> Iterator[str]:
    """Where a value differs from what a golden holds, by more than rounding."""
    if isinstance(found, dict) and isinstance(golden, dict):
        is_sum = found.keys() == golden.keys() == {"shape", "n", "size", "sums"}
        for key in sorted({*found, *golden}):
            within = TOLERANCE * golden["size"] if is_sum and key == "sums" else 0.0
            if key not in found or key not in golden:
                yield f"{where}/{key} is in one of them only"
            elif within:
                yield from _different_numbers(found[key], golden[key], within, f"{where}/{key}")
            else:
                yield from differences(found[key], golden[key], f"{where}/{key}")
    elif isinstance(found, list | tuple) and isinstance(golden, list | tuple) and len(found) == len(golden):
        for place, (one, other) in enumerate(zip(found, golden, strict=True)):
            yield from differences(one, other, f"{where}[{place}]")
    elif isinstance(found, float) and isinstance(golden, float):
        yield from _different_numbers([found], [golden], _SMALLEST, where)
    elif found != golden or isinstance(found, float) != isinstance(golden, float):
        yield f"{where}: {found!r}, and {golden!r} in the golden"


def read_golden(name: str) -> Any:
    """What `generate.py` wrote; what is kept by policy, in one dictionary."""
    if name not in BY_POLICY:
        return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((FOLDER / "policies").glob("*.json"))]
    return {key: entry for file in files for key, entry in file.get(name, {}).items()}


def write_golden(name: str, entries: dict[str, Any], folder: Path = FOLDER) -> None:
    """Write one line for each entry, so that a difference can be read; each policy has a file of its own."""
    if name not in BY_POLICY:
        (folder / f"{name}.json").write_text(_in_lines(entries) + "\n", encoding="utf-8")
        return
    (folder / "policies").mkdir(exist_ok=True)
    for policy in {policy_in(key) for key in entries}:
        file = folder / "policies" / f"{policy}.json"
        parts = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        parts[name] = {key: entry for key, entry in entries.items() if policy_in(key) == policy}
        blocks = [f"{json.dumps(part)}: {_in_lines(parts[part])}" for part in BY_POLICY if part in parts]
        file.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")


def policy_in(key: str) -> str:
    """The name of the outermost policy in the key of an entry.

    >>> policy_in("floor(thompson/actual) on defiers(2)")
    'floor'
    """
    return re.split("[ (/]", key)[0]


def _in_lines(entries: dict[str, Any]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in entries.items()) + "\n}"


def _without_numbers(value: Any, numbers: list[float]) -> Any:
    """A value with a mark for each number that may be rounded; these are added to a list."""
    if isinstance(value, float) and math.isfinite(value):
        numbers.append(value)
        return "#"
    if isinstance(value, dict):
        return {key: _without_numbers(value[key], numbers) for key in sorted(value)}
    return [_without_numbers(item, numbers) for item in value] if isinstance(value, list | tuple) else value


def _different_numbers(found: list[float], golden: list[float], within: float, where: str) -> Iterator[str]:
    for one, other in zip(found, golden, strict=True):
        if not (one == other or math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=within)):
            yield f"{where}: {one!r}, and {other!r} in the golden"
