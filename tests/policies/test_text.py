from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adhere import Exp3, InputError, Policy, Thompson, ThompsonBounded, parse_policy
from adhere.policies import as_policy
from adhere.policies.base.registry import from_json

from .strategies import policies, spellings


@settings(deadline=None, max_examples=300)
@given(policies)
def test_the_text_of_a_policy_is_read_as_that_policy(policy: Policy) -> None:
    assert parse_policy(str(policy)) == policy
    assert from_json(json.loads(json.dumps(policy.to_json()))) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy


@settings(deadline=None, max_examples=150)
@given(spellings())
def test_spaces_and_case_do_not_matter(spelling: tuple[Policy, str]) -> None:
    policy, text = spelling
    assert parse_policy(text) == policy


@settings(deadline=None)
@given(policies, policies)
def test_policies_are_equal_exactly_when_their_texts_are(one: Policy, other: Policy) -> None:
    assert (one == other) == (str(one) == str(other))


@settings(deadline=None, max_examples=500)
@given(st.text(max_size=60))
@example("exp3(gamma=1e99999)")
@example("İ" * 20)
@example("exp3(gamma=٣)")
@example("\x00")
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    refuse_or_read(text)


NAMES = ["thompson", "hierarchical", "thompson-bounded", "exp3", "hedge", "experts", "top", "gamma", "recycle"]
VALUES = ["credit", "actual", "true", "inf", "nan", "0.5", "1e-3", "-1", "7"]
PIECES = st.sampled_from([*NAMES, *VALUES, *"()[],;=/- é"])


@settings(deadline=None, max_examples=1000)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_text_made_of_pieces_of_policies_is_read_or_refused(text: str) -> None:
    refuse_or_read(text)


@pytest.mark.parametrize("text", ["ucb1/credit[{} 0; 0 0]", "exp3(gamma={})", "exp3(gamma=0.{})", "thompson{}"])
def test_very_long_numbers_are_read_or_refused(text: str) -> None:
    refuse_or_read(text.format("9" * 5000))


def refuse_or_read(text: str) -> None:
    said = ""
    try:
        policy = parse_policy(text)
    except InputError as error:
        said = str(error)
    else:
        assert parse_policy(str(policy)) == policy
    assert len(said.splitlines()) <= 1


REFUSED = {
    "tompson": "policy: got 'tompson', expected one of .*did you mean 'thompson'",
    "epsilon greedy": "policy: got 'epsilon', expected one of .*did you mean 'epsilon-greedy'",
    "thompson ucb1": "the end of the policy at character 10",
    "hierarchical(tompson)": "policy: got 'tompson', expected one of .*did you mean 'thompson'",
    "thompson/actul": "protocol: got 'actul', expected one of chosen, actual, comply, .*did you mean 'actual'",
    "thompson/": "protocol: got '', expected one of chosen, actual, comply",
    "thompson/0": "protocol: got '0', expected one of chosen, actual, comply",
    "thompson/actual/actual": "the end of the policy at character 16",
    "exp3(gamma=1.5)": "exp3 gamma: got 1.5, expected a number above 0 and at most 1",
    "exp3(gamma=0)": "exp3 gamma: got 0.0, expected a number above 0 and at most 1",
    "exp3(gamma=nan)": "exp3 gamma: got nan, expected a number above 0 and at most 1",
    "exp3(gamma=true)": "exp3 gamma: got True, expected a number above 0 and at most 1",
    "exp3(gamma=thompson)": "exp3 gamma: got Thompson.* expected a number above 0 and at most 1",
    "exp3(-0.1)": "exp3 gamma: got -0.1, expected a number above 0 and at most 1",
    "epsilon-greedy(epsilon=1.1)": "epsilon-greedy epsilon: got 1.1, expected a number at least 0 and at most 1",
    "epsilon-greedy(epsilon=-inf)": "epsilon-greedy epsilon: got -inf, expected a number at least 0 and at most 1",
    "hierarchical-exp3(eta=0)": "hierarchical-exp3 eta: got 0.0, expected a number above 0",
    "hierarchical-exp3(rho=inf)": "hierarchical-exp3 rho: got inf, expected a number above 0",
    "exp3(gama=0.1)": "exp3 has no option 'gama' \\(it has gamma\\)",
    "thompson(recycle=true)": "thompson has no option 'recycle' \\(it has none\\)",
    "thompson(0.1)": "policy thompson takes no arguments \\(got 1\\)",
    "exp3(0.1, 0.2)": "policy exp3 takes at most 1 argument \\(got 2\\)",
    "exp3(0.1, gamma=0.2)": "policy exp3: gamma is given twice",
    "exp3(gamma=0.1, gamma=0.1)": "gamma only once at character 17",
    "exp3(gamma=0.1, 0.2)": r"key=value \(arguments by place come first\) at character 17",
    "hierarchical(thompson/actual)": "hierarchical base: got .* a learner without a protocol: .* all three",
    "hierarchical(thompson/comply, recycle=true)": "hierarchical base: got .* a learner without a protocol",
    "hierarchical(hierarchical(thompson))": "hierarchical base: got .* a learner without a protocol",
    "hierarchical(thompson, top=exp3/actual)": "hierarchical top: got .* is always followed",
    "hierarchical(thompson, top=hierarchical-exp3)": "hierarchical top: got .* a learner without a protocol",
    "hierarchical(thompson, top=0.1)": "hierarchical top: got 0.1, expected a learner",
    "hierarchical": "hierarchical needs either a base learner or experts=.*neither given",
    "hierarchical()": "hierarchical needs either a base learner or experts=.*neither given",
    "hierarchical(thompson, experts=[ucb1, exp3])": "hierarchical needs either .*both given",
    "hierarchical(experts=[ucb1])": "hierarchical experts: got .* a list of at least two learners",
    "hierarchical(experts=[])": "hierarchical experts: got .* a list of at least two learners",
    "hierarchical(experts=ucb1)": "hierarchical experts: got .* a list of at least two learners",
    "hierarchical(experts=[ucb1, hierarchical(ucb1)])": "a hybrid cannot be an expert",
    "hierarchical(experts=[ucb1, 0.5])": "the name of a policy at character 29",
    "hierarchical(thompson, recycle=1)": "hierarchical recycle: got 1.0, expected true or false",
    "hierarchical(thompson)/actual": "a learner before /actual: the hybrid hierarchical sets its experts' protocols",
    "thompson-bounded(thompson)/comply": "a learner before /comply: the hybrid thompson-bounded sets",
    "hierarchical-exp3/chosen": "a learner before /chosen: the hybrid hierarchical-exp3 sets",
    "thompson-bounded": "thompson-bounded inner: got None, expected a policy",
    "thompson-bounded(0.5)": "thompson-bounded inner: got 0.5, expected a policy",
    "thompson-bounded([ucb1, exp3])": "thompson-bounded inner: got .* expected a policy",
    "thompson-bounded(thompson, literal=maybe)": "thompson-bounded literal: got 'maybe', expected true or false",
    "hedge": "policy: got 'hedge', expected a policy; this needs the losses of all arms .*adhere.hedge",
    "hierarchical-hedge": "policy: got 'hierarchical-hedge', expected a policy; .*adhere.hierarchical_hedge",
    "hierarchical(hedge)": "policy: got 'hedge', expected a policy; this needs the losses of all arms",
    "thompson/credit": r"'\[' at character 16",
    "thompson/credit[]": r"protocol: got \[\[\]\], expected a square table of at least 2 × 2",
    "thompson/credit[0]": r"protocol: got \[\[0\]\], expected a square table of at least 2 × 2",
    "thompson/credit[0 1]": r"protocol: got .* expected a square table",
    "thompson/credit[0 1; 1]": r"protocol: got .* expected a square table",
    "thompson/credit[0 1 0; 1 1 0]": r"protocol: got .* expected a square table",
    "thompson/credit[0 2; 1 1]": "protocol: got 2, expected an arm number from 0 to 1, or none",
    "thompson/credit[0 -1; 1 1]": r"an arm number, -, ; or \] at character 19",
    "thompson/credit[0 1.0; 1 1]": r"an arm number, -, ; or \] at character 19",
    "thompson/credit[0 x; 1 1]": r"an arm number, -, ; or \] at character 19",
    "thompson/credit[0 1; 1 1": r"an arm number, -, ; or \] at character 25",
    "thompson(": r"the name of a policy at character 10",
    "thompson)": "the end of the policy at character 9",
    "exp3(gamma=0.1": r"'\)' at character 15",
    "exp3(gamma=)": "the name of a policy at character 12",
    "exp3(=0.1)": "the name of a policy at character 6",
    "hierarchical(experts=[ucb1, exp3)": "',' or '\\]' at character 33",
    "hierarchical(thompson top=exp3)": "',' or '\\)' at character 23",
    "": "the name of a policy at character 1",
    "   ": "the name of a policy at character 1",
    "0.5": "the name of a policy at character 1",
    "θompson": r"a letter, a digit or .* at character 1",
    "thompson 🙂": r"a letter, a digit or .* at character 10",
    "thompson’": r"a letter, a digit or .* at character 9",
    "thompson;": "the end of the policy at character 9",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_a_mistake_is_named_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        parse_policy(text)
    assert len(str(error.value).splitlines()) == 1


def test_nesting_has_an_end() -> None:
    deepest = "thompson-bounded(" * 7 + "thompson" + ")" * 7
    assert str(parse_policy(deepest)) == deepest
    with pytest.raises(InputError, match="at most 8 policies inside each other"):
        parse_policy(f"thompson-bounded({deepest})")
    with pytest.raises(InputError, match="at most 8 policies inside each other"):
        parse_policy("thompson-bounded(" * 100_000)


def test_a_policy_too_deep_to_be_read_cannot_be_made() -> None:
    policy: Policy = Thompson()
    for _ in range(20):
        try:
            policy = ThompsonBounded(policy)
        except InputError:
            break
    assert parse_policy(str(policy)) == policy


def test_json_too_deep_to_be_read_is_refused() -> None:
    data: dict[str, object] = {"name": "thompson"}
    for _ in range(5000):
        data = {"name": "thompson-bounded", "inner": data}
    with pytest.raises(InputError):
        from_json(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "an object with a name"),
        ({"name": 3}, "an object with a name"),
        ([], "an object with a name"),
        (None, "an object with a name"),
        ({"name": "tompson"}, "did you mean 'thompson'"),
        ({"name": "exp3", "gamma": "0.1"}, "exp3 gamma: got '0.1', expected a number"),
        ({"name": "exp3", "gamma": True}, "exp3 gamma: got True, expected a number"),
        ({"name": "exp3", "gamma": [0.1]}, "an object with a name"),
        ({"name": "exp3", "gamma": 10**400}, "exp3 gamma: got 1000.*, expected a number"),
        ({"name": "thompson", "protocol": "x\ny"}, "protocol: got 'x\\\\ny', expected one of"),
        ({"name": "thompson", "protocol": [[0, 1], [1]]}, "protocol: got .* expected a square table"),
        ({"name": "thompson", "protocol": {"a": 1}}, "protocol: got .* expected a protocol"),
        ({"name": "hierarchical", "base": "thompson"}, "hierarchical base: got 'thompson', expected a learner"),
        ({"name": "hierarchical", "experts": ["thompson", "ucb1"]}, "an object with a name"),
        ({"name": "thompson", "a\nb": 1}, r"thompson has no option 'a\\nb'"),
    ],
)
def test_a_mistake_in_json_is_named_in_one_line(data: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        from_json(data)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("value", [None, 3, b"thompson", ["thompson"]])
def test_only_text_is_parsed(value: object) -> None:
    with pytest.raises(InputError, match=r"^policy: "):
        parse_policy(value)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^policy: "):
        as_policy(value)


def test_the_canonical_text_leaves_out_defaults_and_names_the_rest() -> None:
    given_and_canonical = {
        "THOMPSON / Chosen": "thompson",
        "exp3(0.5)": "exp3(gamma=0.5)",
        "exp3(1.0)": "exp3(gamma=1)",
        "epsilon-greedy(1e-7)": "epsilon-greedy(epsilon=1e-07)",
        "hierarchical(base=ucb1, top=exp3, recycle=false)": "hierarchical(ucb1)",
        "hierarchical(ucb1, exp3(.1))": "hierarchical(ucb1, top=exp3(gamma=0.1))",
        "thompson-bounded(inner=ucb1/actual,)": "thompson-bounded(ucb1/actual)",
        "ucb1/credit[0 1;- 1]": "ucb1/credit[0 1; - 1]",
        "hierarchical(experts=[ucb1/comply,exp3,])": "hierarchical(experts=[ucb1/comply, exp3])",
    }
    assert {text: str(parse_policy(text)) for text in given_and_canonical} == given_and_canonical


def test_a_credit_table_is_never_a_named_protocol() -> None:
    written_out = parse_policy("exp3/credit[0 0; 1 1]")
    assert written_out != Exp3()
    assert str(written_out) == "exp3/credit[0 0; 1 1]"
