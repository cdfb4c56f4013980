"""What a user sees while a simulation is prepared and runs: the numbered compilations, and a bar in a notebook."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from adhere.policies import parse_policy
from adhere.populations import defiers
from adhere.simulation.execution.backend import ThreadBackend
from adhere.simulation.simulation_plan import SimulationPlan, SimulationRunner, grid_points

NOTEBOOK = Path(__file__).parents[2] / "docs" / "examples" / "first-hour.ipynb"
SHOWN = """
from adhere.simulation.execution.progress import progress_on
with progress_on(2_000_000, None) as progress:
    progress.announce("compiling thompson (1 of 3)…")
    progress.advance_to(2_000_000)
"""


class NotCompiled:
    def __init__(self, name: str, composition: str | None) -> None:
        self.name, self.composition = name, composition

    def to_compile(self) -> str | None:
        return self.composition

    def load_tables(self, announce: Callable[[str], None]) -> None:
        """It has none."""

    def prepare(self, announce: Callable[[str], None]) -> None:
        if self.composition is not None:
            announce(f"compiling {self.name}")


def test_compilations_are_numbered_and_said_where_the_user_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = SimulationPlan((parse_policy("uniform"),), (defiers(),), 0, 10, 1, 0, grid_points(None, 10), False)
    runner = SimulationRunner(plan)
    waiting = [("a", "A"), ("ready", None), ("b", "B")]
    monkeypatch.setattr(runner, "runners", [[NotCompiled(*one) for one in waiting]])
    said: list[tuple[str, threading.Thread]] = []
    ThreadBackend(runner, None, 1).prepare(lambda message: said.append((message, threading.current_thread())))
    assert [message for message, _ in said] == [
        "compiling a (1 of 2, then kept on disk)…",
        "compiling b (2 of 2, then kept on disk)…",
    ]
    assert {thread for _, thread in said} == {threading.main_thread()}  # a notebook shows nothing of other threads


@pytest.mark.slow
def test_the_example_notebook_ships_with_outputs_runs_and_shows_its_progress() -> None:
    """In a kernel of its own, as a user's notebook does."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    assert all(cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    notebook.cells.append(nbformat.v4.new_code_cell(SHOWN))  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    *cells, last = (cell for cell in notebook.cells if cell.cell_type == "code")
    shown = ["\n".join(str(output.get("data", output)) for output in cell.outputs) for cell in cells]
    wanted = ("simulated 3.0 M patients in", "<table>", "image/png", "Monte Carlo", "keeping every run takes")
    for what in (*wanted, "<Comparison: compliers, walk against rest", "<Estimate: "):
        assert any(what in text for text in shown), what
    (output,) = last.outputs
    assert output.data["text/plain"].startswith("compiling thompson (1 of 3)…\nsimulated 2.0 M patients in ")
