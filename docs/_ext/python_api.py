"""The index of the Python reference: every public name, by what it is for."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import adhere


def python_api_page() -> str:
    """Return the page that lists every public name; autosummary writes a page for each."""
    public = [name for name in adhere.__all__ if not name.startswith("_")]
    policies = [name for name in public if inspect.isclass(getattr(adhere, name)) and _is_policy(name)]
    functions = [name for name in public if inspect.isfunction(getattr(adhere, name))]
    others = [name for name in public if name not in policies and name not in functions]
    parts = [("Functions", functions), ("Classes and errors", others), ("Policies", policies)]
    return "# Python\n\nEverything that `import adhere` gives.\n" + "".join(_part(*one) for one in parts)


def _is_policy(name: str) -> bool:
    return issubclass(getattr(adhere, name), adhere.Policy)


def _part(title: str, names: Iterable[str]) -> str:
    listed = "\n".join(f"   adhere.{name}" for name in names)
    return (
        f"\n## {title}\n\n```{{eval-rst}}\n.. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{listed}\n```\n"
    )
