"""The index of the Python reference: every public name, by what it is for."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import adhere

_SUBJECTS = {
    "Compare policies": ("simulate", "SimulationResult", "arena", "optimal_surplus"),
    "Design trials": (
        "Design",
        "load_design",
        "evaluate",
        "Evaluation",
        "calibrate",
        "Calibration",
        "sample_size",
        "SampleSize",
    ),
    "Run trials": ("Trial", "Recommendation", "Client", "AsyncClient"),
    "Analyse trials": ("analyse", "Analysis"),
    "Describe populations": (
        "as_population",
        "describe",
        "Population",
        "Counts",
        "ComplianceTypes",
        "ComplianceType",
    ),
    "Write policies": (
        "Policy",
        "Learner",
        "ComplianceAwareLearner",
        "Protocol",
        "parse_policy",
        "import_policies",
        "check_policies",
    ),
}


def python_api_page() -> str:
    """Return the page that lists every public name; autosummary writes a page for each."""
    public = [name for name in adhere.__all__ if not name.startswith("_")]
    parts = {title: list(names) for title, names in _SUBJECTS.items()}
    parts["Policies"] = policies()
    listed = {name for names in parts.values() for name in names}
    others = [name for name in public if name not in listed]
    parts["Errors"] = [name for name in others if inspect.isclass(getattr(adhere, name))]
    parts["Full information"] = [name for name in others if name not in parts["Errors"]]
    unknown = listed - set(public)
    if unknown:
        raise KeyError(f"adhere has no public {', '.join(sorted(unknown))}")
    return "# Python\n\nEverything that `import adhere` gives.\n" + "".join(
        _part(title, names) for title, names in parts.items()
    )


def policies() -> list[str]:
    """Return the names of the classes of single policies, whose methods are those of every policy."""
    bases = ("Policy", "Learner", "ComplianceAwareLearner")
    found = [name for name in adhere.__all__ if inspect.isclass(getattr(adhere, name)) and name not in bases]
    return [name for name in found if issubclass(getattr(adhere, name), adhere.Policy)]


def _part(title: str, names: Iterable[str]) -> str:
    listed = "\n".join(f"   adhere.{name}" for name in names)
    return (
        f"\n## {title}\n\n```{{eval-rst}}\n.. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{listed}\n```\n"
    )
