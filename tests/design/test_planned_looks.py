"""When a design looks at its trial."""

import pytest

from adhere.design.design import Design
from adhere.design.parts import Looks
from adhere.design.planned_looks import burn_in_of, look_counts, look_days, planned_looks


@pytest.mark.parametrize(
    ("looks", "counts", "days"),
    [
        (Looks(), (300,), ()),
        (Looks(at=(100, 200)), (100, 200, 300), ()),
        (Looks(at=(100, 300)), (100, 300), ()),
        (Looks(every=100), (100, 200, 300), ()),
        (Looks(every=80), (80, 160, 240, 300), ()),
        (Looks(days=(30.0, 60.5)), (300,), (30.0, 60.5)),
    ],
)
def test_the_end_is_always_the_last_look(looks: Looks, counts: tuple[int, ...], days: tuple[float, ...]) -> None:
    design = Design("a", "thompson", ("x", "y"), 300, looks=looks)
    assert (look_counts(design), look_days(design)) == (counts, days)
    assert planned_looks(design) == len(counts) + len(days)


def test_a_trial_without_a_number_of_patients_has_no_looks() -> None:
    design = Design("a", "thompson", ("x", "y"), looks=Looks(every=10))
    assert planned_looks(design) == 0


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("thompson", (0, ())),
        ("burn-in(thompson)", (60, (6, 9, 12))),
        ("floor(burn-in(thompson, patients=12, block=3))", (12, (3,))),
        ("burn-in(floor(thompson), patients=9)", (9, (6, 9, 12))),
    ],
)
def test_the_burn_in_is_found_inside_guards(policy: str, expected: tuple[int, tuple[int, ...]]) -> None:
    assert burn_in_of(Design("a", policy, ("x", "y", "z"))) == expected
