"""One number of a design by its name, and the same design with another number of patients."""

from __future__ import annotations

import pytest

from adhere.design.design import Design
from adhere.design.parts import MIRRORED, Delay, Enrolment, Looks, Stopping
from adhere.errors import InputError
from adhere.evaluation.search.named_number import number_of, numbers_of, range_to_search, usual_number, with_number
from adhere.evaluation.search.sample_size import resized, smallest_size

DESIGN = Design(
    "headache",
    "burn-in(floor(epsilon-greedy(epsilon=0.1), share=0.2), patients=20)",
    ("walk", "aspirin"),
    n_patients=200,
    looks=Looks(at=(50, 100, 150)),
    stopping=Stopping("posterior", superiority=0.99, inferiority=MIRRORED, futility=(0.0, 0.05, 0.1, 0.1)),
    delay=Delay(14.0),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_patients", 200.0),
        ("stopping.superiority", 0.99),
        ("stopping.equivalence", None),
        ("stopping.alpha", None),
        ("delay.days", 14.0),
        ("policy.share", 0.2),
        ("policy.patients", 20.0),
        ("policy.epsilon", 0.1),
    ],
)
def test_numbers_are_read_and_replaced(name: str, value: float | None) -> None:
    assert number_of(DESIGN, name) == value
    assert (name in numbers_of(DESIGN)) == (value is not None)
    changed = with_number(DESIGN, name, 0.25 if value is None or value < 1 else 100)
    assert number_of(changed, name) == (0.25 if value is None or value < 1 else 100)
    if value is not None:
        assert with_number(changed, name, value) == DESIGN


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("stopping.superiorty", "did you mean 'stopping.superiority'?"),
        ("name", "got 'name', expected one of n_patients, "),
        ("policy.top", "got 'policy.top', expected one of n_patients, "),
        ("stopping.inferiority", "stopping.inferiority is '1 - superiority'; expected one number for all looks"),
        ("stopping.futility", "stopping.futility has a number for each look; expected one number for all looks"),
    ],
)
def test_what_is_no_number_is_refused(name: str, says: str) -> None:
    with pytest.raises(InputError, match="number") as error:
        number_of(DESIGN, name)
    assert says in str(error.value)


def test_the_number_that_is_searched_for_unless_told() -> None:
    assert usual_number(DESIGN) == "stopping.superiority"
    assert usual_number(with_stopping(Stopping("z-test", boundary="pocock", alpha=0.05))) == "stopping.alpha"
    assert usual_number(with_stopping(Stopping("wealth", alpha=0.05))) == "stopping.alpha"
    with pytest.raises(InputError, match="never claims a difference"):
        usual_number(Design("a", "thompson", ("x", "y")))


def test_ranges() -> None:
    assert range_to_search(DESIGN, "stopping.superiority", None).high == 0.99999
    assert range_to_search(with_stopping(Stopping("z-test")), "stopping.superiority", None).high == 8.0
    assert range_to_search(DESIGN, "stopping.superiority", (0.9, 0.95)).strict == "high"
    assert range_to_search(DESIGN, "policy.share", (0.1, 0.3)).strict is None
    for between, says in (
        (None, "between which two numbers"),
        ((0.3, 0.1), "lower one first"),
        ((0.3, float("nan")), "lower one first"),
    ):
        with pytest.raises(InputError, match=says):
            range_to_search(DESIGN, "policy.share", between)
    with pytest.raises(InputError, match=r"from 0.51 to 0.99999 for stopping.superiority"):
        range_to_search(DESIGN, "stopping.superiority", (0.1, 0.95))


def test_another_size_keeps_the_shares_of_looks_and_burn_in() -> None:
    larger = resized(DESIGN, 333)
    assert (larger.n_patients, larger.looks.at) == (333, (83, 166, 250))
    assert larger.policy == "burn-in(floor(epsilon-greedy(epsilon=0.1), share=0.2), patients=33)"
    assert resized(DESIGN, 200) == DESIGN
    for looks, expected in ((Looks(every=50), Looks(every=75)), (Looks(days=(10.0,)), Looks(days=(15.0,)))):
        design = Design("a", "thompson", ("x", "y"), n_patients=200, looks=looks)
        assert resized(design, 300).looks == expected
    smallest = smallest_size(DESIGN)
    assert len(set(resized(DESIGN, smallest).looks.at)) == 3
    with pytest.raises(InputError, match="n_patients"):
        resized(Design("a", "thompson", ("x", "y")), 10)
    with pytest.raises(InputError, match=r"enrolment.days"):
        resized(Design("a", "thompson", ("x", "y"), n_patients=2, enrolment=Enrolment(days=(0.0, 1.0))), 3)


def with_stopping(stopping: Stopping) -> Design:
    return Design("a", "thompson", ("x", "y"), n_patients=200, looks=Looks(at=(100,)), stopping=stopping)
