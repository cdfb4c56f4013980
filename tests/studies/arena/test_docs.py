"""docs/arena.md says how the families are drawn, as they are."""

from __future__ import annotations

from pathlib import Path

from adhere.studies.arena.families import FAMILIES

PAGE = Path(__file__).parents[3] / "docs" / "arena.md"


def test_the_table_of_families_is_that_of_the_code() -> None:
    """To renew it: put what is expected here between the two comments."""
    rows = [f"| `{name}` | {kind.n_arms} | {kind.description} | {kind.drawn} |" for name, kind in FAMILIES.items()]
    expected = "\n".join(["| family | arms | what it is | how it is drawn |", "|---|---|---|---|", *rows])
    text = PAGE.read_text(encoding="utf-8")
    assert text.split("<!-- families -->\n")[1].split("\n<!-- /families -->")[0] == expected
