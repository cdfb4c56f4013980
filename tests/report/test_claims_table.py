from __future__ import annotations

import pytest

from adhere.report.section import AGREES, DIFFERS, IN_PART, OURS, Claim, Section
from adhere.report.text_table import claims_table, study_lines

POLICY = "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.085)), recycle=true)"
LONG = Claim(
    f"HierarchicalBandit ({POLICY}): surplus lives, both trials pooled",
    "8.9 [8.1, 9.7], with a remark that is longer than the column is wide",
    "9.01 [8.77, 9.25] in 2,000 runs; 8.95 [8.87, 9.03] in 20,000; -1,234.5 [-1,300.25, -1,168.75] elsewhere",
    DIFFERS,
)
CLAIMS = [Claim("Patients analysed", "19,422", "19,422", AGREES), LONG]


def section(name: str, *claims: Claim) -> Section:
    return Section(name, f"About {name}", "Why?", "So.", "Very.", claims)


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_every_claim_under_its_study_with_its_verdict() -> None:
    sections = [section("one", *CLAIMS), section("none"), section("two", Claim("C", "p", "o", IN_PART))]
    lines = claims_table(sections, 120).splitlines()
    assert lines[0].split("  ")[0] == "verdict"
    assert "About none" not in lines
    starts = [line for line in lines if line.startswith(("About", "✓", "◐", "✗"))]
    assert [line.split("  ")[0] for line in starts] == [
        "About one",
        "✓ agrees",
        "✗ differs",
        "About two",
        "◐ in part",
    ]
    assert starts[1].split() == ["✓", "agrees", "Patients", "analysed", "19,422", "19,422"]
    assert lines[-1] == "3 claims of the paper: 1 ✓ agrees, 1 ◐ in part, 1 ✗ differs"


@pytest.mark.parametrize("width", [30, 50, 71, 72, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal_and_no_text_is_cut_off(width: int) -> None:
    table = claims_table([section("one", LONG)], width)
    lines = table.splitlines()
    assert max(map(len, lines)) <= width
    if width < 72:
        for text in (LONG.statement, LONG.paper, LONG.ours):
            assert squeezed(text) in squeezed(table)
    else:
        edges = [lines[0].index(title) for title in ("verdict", "claim", "the paper", "this run")]
        body = lines[3 : lines.index("", 3)]
        columns = [
            squeezed("".join(line[start:end] for line in body))
            for start, end in zip(edges, [*edges[1:], None], strict=True)
        ]
        assert columns == [squeezed(text) for text in ("✗ differs", LONG.statement, LONG.paper, LONG.ours)]


@pytest.mark.parametrize("width", [40, 72, 80, 100])
def test_intervals_stay_whole(width: int) -> None:
    table = claims_table([section("one", LONG)], width)
    for interval in ("[8.1, 9.7]", "[8.77, 9.25]", "[8.87, 9.03]", "[-1,300.25, -1,168.75]"):
        assert interval in table


def test_policies_break_where_a_reader_would() -> None:
    table = claims_table([section("one", LONG)], 80)
    for part in ("(thompson-bounded(", "epsilon-greedy,", "top=exp3(gamma=0.085)),", "recycle=true)):"):
        assert part in table


def test_short_texts_leave_no_empty_columns_wide() -> None:
    table = claims_table([section("one", CLAIMS[0])], 200)
    assert max(map(len, table.splitlines())) < 60


def test_findings_of_our_own_do_not_count_as_agreement() -> None:
    own = Claim("Own", "not stated", "2.0", OURS)
    lines = claims_table([section("one", CLAIMS[0], own)], 120).splitlines()
    assert lines[-1] == "1 claim of the paper: 1 ✓ agrees; 1 finding of our own"
    assert any(line.startswith("◇ ours") for line in lines)
    assert claims_table([section("one", own, own)]).endswith("\n\n2 findings of our own")


def test_without_claims() -> None:
    assert claims_table([section("none")]) == "The paper makes no claims about this."
    assert "1 claim of the paper: 1 ✓ agrees" in claims_table([section("one", CLAIMS[0])])


@pytest.mark.parametrize("width", [50, 80, 200])
def test_one_line_for_each_study_and_the_totals(width: int) -> None:
    own = Claim("C", "p", "o", OURS)
    sections = [
        section("one", *CLAIMS, LONG),
        section("a study with a long name, which is cut", own),
        section("none"),
    ]
    lines = study_lines(sections, width).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].endswith("1 ✓ agrees  2 ✗ differs")
    assert lines[1].endswith("1 ◇ ours")
    assert lines[2] == "About none"
    assert " ".join(lines[4:]) == "3 claims of the paper: 1 ✓ agrees, 2 ✗ differs; 1 finding of our own"
