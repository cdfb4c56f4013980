"""Hundreds of bad requests, by hand and at random: each gets a 4xx and one sentence, and nothing is written."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import fields

from adhere.service.api.requests import EXAMPLES
from adhere.service.pages.routes import ROUTES
from service.serving import Service
from trial.live import UNKNOWN_ID

AT_RANDOM = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=100,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
DESIGN: dict[str, Any] = {"name": "never made", "policy": "uniform", "arms": ["walk", "aspirin"]}
TOKEN: dict[str, Any] = {"role": "site", "site": "Leeds", "label": "never made"}
FUTURE, LONG_AGO = (datetime.now(UTC) + timedelta(days=days) for days in (2, -4000))


def each(good: dict[str, Any], field: str, *wrong: Any) -> list[Any]:
    """A body for each wrong value of a field."""
    return [{**good, field: value} for value in wrong]


RECOMMENDATION: list[Any] = [
    *each({}, "subject", "", " ", "\t", " S", "S ", "a\nb", "\x7f", "\ud800", "x" * 201, "\u202e"),
    *each({}, "subject", None, 0, 1.5, True, [], {}, ["S"], {"name": "S"}),
    *({}, {"Subject": "S"}, {"subject": "S", "ward": "A"}, [], None, 1, "S", [{"subject": "S"}]),
]
REPORT: list[Any] = [
    *each({}, "reward", -0.001, 1.001, 2, -1, 1e300, "0.5", "", [], {}, [1], 10**400),
    *each({}, "actual", "Walk", "walk ", "", "0", 0, -1, True, [], ["walk"], {"arm": "walk"}, "x" * 300),
    *each({}, "took_nothing", "true", 1, 0, [], "yes"),
    *each({}, "took_other", "", " ", 5, True, "x" * 2001, "\x00", ["tea"]),
    *each({"reward": 1}, "happened", "today", "2026-13-01T00:00:00Z", 5, "", "2026-03-01", []),
    *each({"reward": 1}, "happened", *(at.isoformat() for at in (FUTURE, LONG_AGO, FUTURE.replace(tzinfo=None)))),
    {"actual": "walk", "took_nothing": True},
    {"actual": "walk", "took_other": "tea"},
    {"took_nothing": True, "took_other": "tea"},
    *(
        {},
        {"took_nothing": False},
        {"reward": None},
        {"reward": 1, "comment": "fine"},
        {"reward": 1, "a\nb": 1},
        {"rewards": 1},
        {"arm": "walk"},
    ),
]
CORRECTION: list[Any] = [
    *each({"reward": 1}, "reason", "", " ", None, 7, "x" * 2001),
    *each({"reason": "r"}, "retract", "reward", ["rewrad"], [1], {}, [["reward"]], []),
    *(
        {"reward": 1},
        {"reason": "r"},
        {"reason": "r", "reward": 2},
        {"reason": "r", "reward": 1, "retract": ["reward"]},
    ),
    {"reason": "r", "retract": ["actual"]},  # nothing was reported yet
]
TRIAL: list[Any] = [
    *each(DESIGN, "name", "", "a/b", " a", "x" * 201, 5, None, "a\tb"),
    *each(DESIGN, "policy", "", "tompson", "exp3", "thompson(alpha=2)", "hierarchical(", 5, None, []),
    *each(DESIGN, "arms", [], ["a"], ["a", "a"], ["a", ""], "ab", {"a": 1}, ["a", 1], [["a", "b"]]),
    *each(DESIGN, "seed", 7, "7", -1, 2**53, "x", "-1", str(2**64), 1.5, [], True),
    *each(DESIGN | {"rehearsal": True}, "seed", -1, 2**53, "x", "-1", str(2**64), 1.5, [], True),
    *each(DESIGN, "n_patients", 0, -5, 1.5, "100", 2**53, True, []),
    *each(DESIGN, "reward_values", [2], ["1"], 1, "01", [[0, 1]], {"0": 1}),
    *each(DESIGN, "blinded", "yes", 1, None),
    *each(DESIGN, "impute", 5, {}, {"after_days": 0, "reward": 1}, {"after_days": 1}, [], "1 day"),
    DESIGN | {"blinded": True, "seed": "7"},
    *({name: value for name, value in DESIGN.items() if name != left_out} for left_out in DESIGN),
]
TOKENS: list[Any] = [
    *each(TOKEN, "role", "king", "", 1, None, ["site"], "Admin"),
    *each(TOKEN, "site", "", "a/b", 1, None, " "),
    *each(TOKEN, "label", "", None, 5, "x" * 201, "\x00"),
    *each(TOKEN, "expires_at", "never", 5, LONG_AGO.isoformat(), "2200-01-01T00:00:00Z"),
    *each(
        TOKEN,
        "expires_at",
        FUTURE.replace(tzinfo=None).isoformat(),
    ),
    *({**TOKEN, "role": "admin"}, {"role": "admin", "label": "x", "trial": "t"}, {**TOKEN, "trial": "nowhere"}),
]
READS = [
    "export?format=xlsx",
    "export?format=csv&format=csv",
    "accesses?after=x",
    "accesses?after=-1",
    "export?fmt=parquet",
    "results?format=csv",
    "recommendations/x",
]
READS += [f"recommendations/{one}" for one in ("0", "99", "-1", UNKNOWN_ID, "..", "4K7T-9QXA-M98F-RJC")]
READS += [f"waiting?after={one}" for one in ("0", "99", "-1", UNKNOWN_ID, "4K7T-9QXA-M98F-RJC")]
READS += ["recommendations/", "result", "accesses?after=" + "9" * 40]


class Asking:
    """Requests over one connection."""

    def __init__(self, service: Service, trial: str) -> None:
        self.trial, self._n, self._made = trial, 0, service.ids(trial)[0]
        self.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=20)
        self._headers = {"Authorization": f"Bearer {service.admin}", "Content-Type": "application/json"}

    def refused(self, method: str, path: str, body: Any = None) -> None:
        """Send it; it must be refused, in one sentence that says what is wrong."""
        self._n += 1
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        for name, value in {"trial": self.trial, "recommendation_id": self._made, "id": "0"}.items():
            path = path.replace(f"{{{name}}}", value)
        self.connection.request(method, path, data, self._headers | {"Idempotency-Key": f"bad-{self._n}"})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        sent = f"{method} {path} {data!r}: {answer.status} {text}"
        assert 400 <= answer.status < 500, sent
        said = json.loads(text)
        assert answer.headers["content-type"] == "application/problem+json", sent
        assert said["detail"], sent
        assert "\n" not in said["detail"], sent
        assert "Traceback" not in text, sent
        assert said["field"], sent
        if answer.status == 422:
            assert said["expected"], sent
            odd = [words for words in ("Expected", "Invalid", "`", "None") if words in said["detail"]]
            assert all(words in repr(data) for words in odd), sent  # as the decoder puts it


@pytest.fixture(scope="module")
def asking(service: Service) -> Iterator[Asking]:
    """Whoever asks; once they are done, nothing may have been written."""
    trial = service.new_trial()
    service.client().recommend(trial, "S-1")
    before = written(service)
    one = Asking(service, trial)
    yield one
    one.connection.close()
    assert written(service) == before


def written(service: Service) -> Any:
    """The head of every log, and the tokens."""
    assert service.store is not None
    with service.store.reading() as view:
        heads = {name: view.head(number).hash for name, number in view.trials().items()}
        return heads, len(view.tokens())


def test_by_hand(asking: Asking) -> None:
    recommendation = "/trials/{trial}/recommendations"
    bad = [("POST", recommendation, body) for body in RECOMMENDATION]
    bad += [("POST", f"{recommendation}/{{recommendation_id}}/reports", body) for body in REPORT]
    bad += [("POST", f"{recommendation}/{{recommendation_id}}/corrections", body) for body in CORRECTION]
    bad += [("POST", "/trials", body) for body in TRIAL] + [("POST", "/tokens", body) for body in TOKENS]
    bad += [("GET", f"/trials/{{trial}}/{rest}", None) for rest in READS]
    assert len(bad) > 150
    for request in bad:
        asking.refused(*request)


# Every route that takes a body has an example of one that would be accepted.
WRITING = [route for route in ROUTES if route.body is not None]
OBJECTS_BELONG = {
    "delay",
    "enrolment",
    "impute",
    "looks",
    "missing",
    "scenarios",
    "stopping",
}  # {} may be all right there
OBJECTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
).filter(lambda value: isinstance(value, dict))


def test_objects_where_none_belong_and_fields_nobody_knows(asking: Asking) -> None:
    @given(route=st.sampled_from(WRITING), value=OBJECTS, unknown=st.text(min_size=1), data=st.data())
    @AT_RANDOM
    def refused(route: Any, value: Any, unknown: str, data: st.DataObject) -> None:
        known = {item.name for item in fields(route.body)} - OBJECTS_BELONG
        example = EXAMPLES[route.body]
        asking.refused(route.method, route.path, {**example, data.draw(st.sampled_from(sorted(known))): value})
        asking.refused(route.method, route.path, {**example, f"{unknown}?": 1})

    refused()


def test_bytes_of_any_kind_and_bodies_cut_short(asking: Asking) -> None:
    @given(route=st.sampled_from(WRITING), data=st.binary(), part=st.floats(0, 0.99))
    @AT_RANDOM
    def refused(route: Any, data: bytes, part: float) -> None:
        asking.refused(route.method, route.path, data)
        whole = json.dumps(EXAMPLES[route.body]).encode()
        asking.refused(route.method, route.path, whole[: int(part * len(whole))])

    refused()
