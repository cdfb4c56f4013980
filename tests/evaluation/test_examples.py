"""The designs in docs/examples can be read and run."""

from __future__ import annotations

from pathlib import Path

import pytest

from adhere.design.checks import check
from adhere.design.design_file import load_design
from adhere.evaluation.scenarios.scenarios import read_scenarios

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = sorted(DOCS.glob("examples/**/*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_can_be_run_and_nothing_looks_odd(path: Path) -> None:
    design = load_design(path)
    warnings = check(design)
    if path.stem.startswith("stroke-unit"):  # whose figures are of blocks of one length, as the page says
        assert [one.split(",")[0] for one in warnings] == ["policy: all blocks of the burn-in have 4 patients"]
    else:
        assert not warnings
    has_scenarios = "[scenarios]" in path.read_text(encoding="utf-8")
    assert read_scenarios(path if has_scenarios else None, design)


def test_fixed_trial_differs_from_the_adaptive_one_in_allocation_and_decisions_alone() -> None:
    adaptive, fixed = (load_design(DOCS / f"examples/stroke-unit{one}.toml") for one in ("", "-fixed"))
    changed = {name for name in adaptive.__struct_fields__ if getattr(adaptive, name) != getattr(fixed, name)}
    assert changed == {"name", "policy", "stopping"}
