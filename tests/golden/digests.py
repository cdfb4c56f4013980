"""Values as short digests, equal only if the values are equal to the bit."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from .renames import in_old_names

FOLDER = Path(__file__).parent


def digest(value: Any) -> str:
    """Of a JSON value: floats are written with all their digits, and the order of keys does not matter."""
    text = json.dumps(in_old_names(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_golden(name: str) -> Any:
    """What `generate.py` wrote."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def write_golden(name: str, entries: dict[str, Any]) -> None:
    """One line for each entry, so that a difference can be read."""
    lines = [f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in entries.items()]
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
