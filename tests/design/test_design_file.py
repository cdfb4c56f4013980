"""A design in TOML and JSON: what is written is read as the same design, with the same digest."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adhere
from adhere.design.design import Design
from adhere.design.design_file import load_design
from adhere.design.make_design import make_design
from adhere.design.parts import Delay, Enrolment, Imputation, Looks, Missing, Rate, Stopping
from adhere.errors import InputError
from adhere.evaluation.scenarios.scenarios import read_scenarios, scenario_table

N = 300
ARMS = ("walk", "aspirin", "tea & rest")
STRATA = ("under 60", "60 and over")
unit = st.floats(0.0, 1.0)
below_one, above_zero = st.floats(0.6, 1.0, exclude_max=True), st.floats(0.0, 0.4, exclude_min=True)
days = st.floats(0.0, 1000.0)
rates = st.builds(
    Rate,
    rate=unit,
    by_arm=st.dictionaries(st.sampled_from(ARMS), unit),
    by_stratum=st.dictionaries(st.sampled_from(STRATA), unit),
    after_failure=st.none() | unit,
    after_success=st.none() | unit,
)
looks = (
    st.builds(Looks, at=st.just((100, 300)))
    | st.builds(Looks, every=st.just(150))
    | st.builds(Looks, days=st.just((0.5,)))
)
rules = st.none() | st.builds(
    Stopping,
    by=st.just("posterior"),
    superiority=st.none() | below_one | st.tuples(below_one, below_one),
    inferiority=st.none() | above_zero | st.just("1 - superiority"),
    equivalence=st.none() | below_one,
    futility=above_zero,
    margin=st.floats(0.01, 0.9),
)
designs = st.builds(
    make_design,
    name=st.sampled_from(["headache", "Kopfweh № 3", 'a "quoted" name', "#1 = x"]),
    policy=st.just("burn-in(floor(thompson, share=0.2), patients=12)"),
    arms=st.just(ARMS),
    n_patients=st.just(N),
    reward_values=st.lists(unit, min_size=1, max_size=3),
    blinded=st.booleans(),
    repeats=st.booleans(),
    rehearsal=st.booleans(),
    impute=st.none()
    | st.builds(Imputation, st.floats(0.1, 100.0), took_nothing=st.just(True), reward=st.none() | unit),
    control=st.sampled_from(ARMS),
    strata=st.just(STRATA),
    update=st.sampled_from(["every patient", "at looks"]),
    looks=looks,
    stopping=rules,
    estimands=st.sampled_from([(), ("compliers",), ("intention-to-treat", "compliers")]),
    enrolment=st.builds(Enrolment, per_day=st.floats(0.01, 100.0), random=st.booleans())
    | st.builds(Enrolment, days=st.just(tuple(float(day) for day in range(N)))),
    delay=st.builds(
        Delay,
        days=days,
        distribution=st.sampled_from(["fixed", "uniform", "exponential"]),
        by_arm=st.dictionaries(st.sampled_from(ARMS), days),
    ),
    missing=st.builds(Missing, outcome=rates, taken=rates),
)


@settings(max_examples=12, deadline=None)
@given(designs)
def test_text_is_read_as_the_design_it_was_written_from(design: Design) -> None:
    for text in (design.to_toml(), design.to_json()):
        again = load_design(text)
        assert again == design
        assert again.digest == design.digest
        assert (again.to_toml(), again.to_json()) == (design.to_toml(), design.to_json())
    assert load_design(json.loads(design.to_json())) == design
    # As the first record of a log has it.
    assert msgspec.json.decode(msgspec.json.encode(design), type=Design) == design


def test_words_for_outcomes_are_put_in_the_order_of_the_rewards() -> None:
    given = {"name": "t", "policy": "thompson", "arms": ["a", "b"], "reward_values": [1, 0.5, 0]}
    design = load_design({**given, "outcome_words": {"alive": 1, "died": 0, "ill": 0.5}})
    assert list(design.outcome_words.items()) == [("died", 0.0), ("ill", 0.5), ("alive", 1.0)]
    assert load_design(design.to_toml()) == load_design(design.to_json()) == design
    assert load_design({**given, "outcome_words": {"ill": 0.5, "died": 0, "alive": 1}}).digest == design.digest
    assert load_design(given).digest != design.digest


def test_a_file_is_read_by_its_name_and_scenarios_are_no_part_of_it(tmp_path: Path) -> None:
    text = 'name = "t"\npolicy = "thompson(  )"\narms = ["a", "b"]\nn_patients = 100\nlooks.every = 50\n'
    toml, other, jsons = tmp_path / "one.toml", tmp_path / "two.TOML", tmp_path / "three.json"
    toml.write_text(text)
    other.write_text("\ufeff# a comment\n" + text + "[scenarios]\neffect = [0.1]\n")
    design = adhere.load_design(toml)
    jsons.write_text(design.to_json())
    found = [design, load_design(str(other)), load_design(jsons), load_design(text)]
    assert found == [design] * 4
    assert len({one.digest for one in found}) == 1
    assert design.policy == "thompson"
    assert isinstance(design, adhere.Design)


def test_defaults_are_neither_written_nor_digested() -> None:
    plain = make_design("t", "thompson", ["a", "b"])
    spelled = make_design(
        "t", "thompson", ["a", "b"], reward_values=[0, 1], looks=Looks(), missing=Missing(Rate(0.0))
    )
    written = 'name = "t"\npolicy = "thompson"\narms = [\n    "a",\n    "b",\n]\n'
    assert plain.to_toml() == spelled.to_toml() == written
    assert plain.digest == spelled.digest
    # The digest must never change: it is in the first record of every trial.
    assert plain.digest == hashlib.sha256(b'{"arms":["a","b"],"name":"t","policy":"thompson"}').hexdigest()
    changed: list[dict[str, Any]] = [{"n_patients": 9}, {"blinded": True}, {"control": "a"}, {"delay": Delay(1.0)}]
    digests = {make_design("t", "thompson", ["a", "b"], **change).digest for change in changed}
    assert len({*digests, plain.digest}) == 5


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.toml", "name = ", "t.toml: got 'Invalid value (at end of document)', expected valid TOML"),
        ("t.json", "{", "t.json: got 'Expecting property name enclosed in double quotes"),
        ("t.json", "[1]", "t.json: got '[1]', expected an object with the fields of a design"),
        ("t.yaml", "name: t", "a file (.toml or .json)"),
        ("t.toml", 'name = "t"', "t.toml: the field 'policy' is missing"),
        ("t.toml", b"name = '\xff'", "expected UTF-8 text"),
    ],
)
def test_a_file_that_is_no_design_is_refused_by_its_name(
    tmp_path: Path, name: str, text: str | bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as refused:
        load_design(path)
    assert said in str(refused.value)
    assert name in str(refused.value)


def test_what_is_no_file_is_said() -> None:
    with pytest.raises(InputError, match=r"missing\.toml does not exist"):
        load_design("missing.toml")
    with pytest.raises(InputError, match="design: got 3, expected a file"):
        load_design(3)  # type: ignore[arg-type]


def test_a_name_that_comes_twice_is_refused(tmp_path: Path) -> None:
    """As TOML does; Python's own reader would take the last one."""
    text = '{"name": "t", "policy": "thompson", "arms": ["a", "b"], "looks": {"every": 1, "every": 2}}'
    (tmp_path / "t.json").write_text(text)
    for source in (text, tmp_path / "t.json"):
        with pytest.raises(InputError, match=r"'every' is given twice.*valid JSON"):
            load_design(source)
    (tmp_path / "grid.json").write_text('{"scenarios": {"effect": 0.1, "effect": 0.2}}')
    with pytest.raises(InputError, match=r"grid\.json: 'effect' is given twice"):
        scenario_table(tmp_path / "grid.json")


def test_what_is_no_design_is_refused_in_one_way() -> None:
    for source in (5, 'name = "t"', "t.txt"):
        with pytest.raises(InputError, match=r"design: got .*, expected a file \(\.toml or \.json\), its text"):
            load_design(source)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "instead"),
    [
        ("noninferiority", "equivalence and futility have a margin"),
        ("non_inferiority", "equivalence and futility have a margin"),
        ("non-inferiority-margin", "equivalence and futility have a margin"),
        ("prior", "adhere design calibrate sets thresholds"),
        ("priors", "adhere design calibrate sets thresholds"),
        ("ratio", "floor(uniform, share=0.33, control=0.67)"),
        ("allocation_ratio", "floor(uniform, share=0.33, control=0.67)"),
        ("time_to_event", "a number from 0 to 1"),
        ("survival", "a number from 0 to 1"),
        ("minimisation", "strata balance"),
        ("Minimization", "strata balance"),
        ("cluster", "every patient is randomised alone"),
        ("clusters", "every patient is randomised alone"),
        ("cluster_randomization", "every patient is randomised alone"),
        ("reestimation", "adhere design size finds it"),
        ("re_estimation", "adhere design size finds it"),
        ("sample_size_re-estimation", "adhere design size finds it"),
        ("spending", 'boundary = "obrien-fleming" or "pocock"'),
        ("alpha_spending", 'boundary = "obrien-fleming" or "pocock"'),
    ],
)
@pytest.mark.parametrize("table", ["", "stopping", "scenarios"])
def test_a_field_of_something_that_does_not_exist_is_not_supported(table: str, field: str, instead: str) -> None:
    """Instead of a guess at its spelling, such as superiority."""
    design: dict[str, Any] = {"name": "a", "policy": "thompson", "arms": ["x", "y"], "n_patients": 100}
    full = f"{table}.{field}".lstrip(".")
    valid, wrong = load_design(design), {"stopping": {"by": "z-test", field: 0.1}} if table else {field: 0.1}
    with pytest.raises(InputError) as error:
        read_scenarios({field: 0.1}, valid) if table == "scenarios" else load_design(design | wrong)
    assert f"{full} is not supported: adhere has no " in str(error.value)
    assert instead in str(error.value)
    assert "did you mean" not in str(error.value)


@pytest.mark.parametrize(
    ("field", "instead"),
    [
        ("sample_size", "it is called n_patients here"),
        ("SampleSize", "it is called n_patients here"),
        ("allocation", 'the policy allocates arms: policy = "uniform", "thompson", …'),
        ("alpha", 'it is a field of stopping: stopping.alpha, with by = "z-test" or "wealth"'),
    ],
)
def test_a_field_that_has_another_name_or_place_is_pointed_to(field: str, instead: str) -> None:
    design: dict[str, Any] = {"name": "a", "policy": "thompson", "arms": ["x", "y"], "n_patients": 100}
    with pytest.raises(InputError) as error:
        load_design(design | {field: 0.1})
    assert str(error.value) == f"unknown field {field!r}; {instead}"


def test_two_of_three_patients_may_be_drawn_to_the_first_arm() -> None:
    """The message about ratios proposes this design."""
    trial = adhere.Trial("floor(uniform, share=0.33, control=0.67)", ["x", "y"])
    assert trial.recommend().probabilities == pytest.approx({"x": 0.67, "y": 0.33})
