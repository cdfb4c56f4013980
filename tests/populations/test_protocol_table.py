from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from adhere.errors import InputError
from adhere.populations import ComplianceType, ComplianceTypes
from adhere.populations.compliance_types import Reach
from adhere.populations.describe import protocol_table_text

from .strategies import types_populations

ALL_FOUR = ComplianceTypes(
    "all four",
    ("0", "1"),
    [
        ComplianceType("N", 0.25, (0, 0), (0.5, 0.5)),
        ComplianceType("C", 0.25, (0, 1), (0.5, 0.5)),
        ComplianceType("A", 0.25, (1, 1), (0.5, 0.5)),
        ComplianceType("D", 0.25, (1, 0), (0.5, 0.5)),
    ],
)

# The table at the end of the paper's section 2.3, copied by hand.
PAPER = {
    "chosen": {"0": {"N0", "C0", "A1", "D1"}, "1": {"N0", "C1", "A1", "D0"}},
    "actual": {"0": {"N0", "C0", "D0"}, "1": {"C1", "A1", "D1"}},
    "comply": {"0": {"N0", "C0"}, "1": {"C1", "A1"}},
}


def test_the_paper_s_table() -> None:
    ours = {
        protocol: {arm: {reach.compliance_type + reach.taken for reach in reaches} for arm, reaches in by_arm.items()}
        for protocol, by_arm in ALL_FOUR.protocol_table().items()
    }
    assert ours == PAPER


def test_the_paper_s_table_as_text() -> None:
    assert protocol_table_text(ALL_FOUR).splitlines() == [
        "arm credited  Chosen (intention-to-treat)  Actual (as-treated)  Comply (per-protocol)",
        "0             r(N, 0)                      r(N, 0)              r(N, 0)",
        "              r(C, 0)                      r(C, 0)              r(C, 0)",
        "              r(A, 1)",
        "              r(D, 1)                      r(D, 0)",
        "1             r(N, 0)",
        "              r(C, 1)                      r(C, 1)              r(C, 1)",
        "              r(A, 1)                      r(A, 1)              r(A, 1)",
        "              r(D, 0)                      r(D, 1)",
    ]


@settings(deadline=None)
@given(types_populations())
def test_any_number_of_arms(population: ComplianceTypes) -> None:
    table = population.protocol_table()
    for i, arm in enumerate(population.arms):
        for compliance_type in population.types:
            own = Reach(compliance_type.name, arm)
            assert (own in table["actual"][arm]) == (i in compliance_type.takes)
            assert (own in table["comply"][arm]) == (compliance_type.takes[i] == i)
            assert Reach(compliance_type.name, population.arms[compliance_type.takes[i]]) in table["chosen"][arm]
        assert len(table["chosen"][arm]) == len(population.types)
        assert set(table["comply"][arm]) <= set(table["actual"][arm])


def test_a_protocol_given_as_a_table() -> None:
    # Credit arm 1 with whoever did not comply, and arm 0 with nobody.
    reached = ALL_FOUR.reached_by([[None, 1], [1, None]])
    assert reached == {"0": (), "1": (Reach("N", "0"), Reach("A", "1"), Reach("D", "1"), Reach("D", "0"))}
    assert ALL_FOUR.reached_by([[0, None], [None, 1]]) == ALL_FOUR.reached_by(" Comply ")


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        (
            "complied",
            "protocol: got 'complied', expected one of chosen, actual, comply, credit[…] (did you mean 'comply'?)",
        ),
        ([[0, 1]], "expected a square table of at least 2 × 2"),
        ([[0, 1, 0], [0, 1, 0]], "expected a square table of at least 2 × 2"),
        ([[0, 1, 2]] * 3, "expected a table of 2 × 2 for 2 arms"),
        ([[0, 2], [0, 1]], "protocol: got 2, expected an arm number from 0 to 1, or none"),
        ([[0, -1], [0, 1]], "protocol: got -1, expected an arm number from 0 to 1, or none"),
    ],
)
def test_bad_protocol(protocol: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ALL_FOUR.reached_by(protocol)
    assert message in str(caught.value)
