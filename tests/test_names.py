"""One name for one quantity in all results, and docs/_ext/names.toml has them all."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

from result_names import ENDS, result_names
from simulation.results import a_result

DOCS = Path(__file__).parents[1] / "docs"
ROWS = [
    (name, *row)
    for section in tomllib.loads((DOCS / "_ext/names.toml").read_text(encoding="utf-8")).values()
    for name, row in section.items()
]

REPLACED = {
    "after", "days", "digest", "hi", "highs", "horizon", "in_error", "lo", "low_surplus", "lows", "open",
    "patients", "planned", "quantile_5", "quantiles", "recommended_ARM", "recommending", "reported", "risk", "runs",
    "share_below_0", "surely_worse_than_random", "taken_ARM", "taken_missing", "taking", "times", "told_treatment",
    "trials", "withdrawn", "worse_than_random",
}  # fmt: skip


def test_the_page_has_every_name_and_where_it_is_used() -> None:
    used = {name: ", ".join(sorted(where)) for name, where in result_names().items()}
    documented = {name: where for name, _, where in ROWS}
    assert used == documented, "add the name to docs/_ext/names.toml, unless another one there means the same"


def test_no_two_names_mean_the_same() -> None:
    for column in (0, 1):
        counts = Counter(row[column] for row in ROWS)
        assert [text for text, count in counts.items() if count > 1] == []


def test_names_that_were_replaced_are_used_nowhere() -> None:
    assert REPLACED.isdisjoint(result_names())
    assert not [name for name in result_names() if re.search("_(lo|hi|lower|upper|std)$", name)]


def test_printed_tables_use_the_names_too() -> None:
    lines = a_result(3, 1).summary(200).splitlines()
    headings = re.split(" {2,}", lines[lines.index("rich-and-poor") + 1])
    words = {"policy"}
    names = {name.replace("_", " ") for name in result_names()}
    names |= {f"{name} {end}" for name in names for end in ENDS}
    assert set(headings) - words <= names
