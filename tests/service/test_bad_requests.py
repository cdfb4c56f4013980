"""One table of bad requests: each gets a 4xx and a problem in one sentence, and nothing is written."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import fields

from adhere.service.api.requests import EXAMPLES
from adhere.service.pages.routes import ROUTES
from service.serving import Service
from trial.live import UNKNOWN_ID

NEW, ONE = "/trials/{trial}/recommendations", "/trials/{trial}/recommendations/{new}"
REPORTED = "/trials/{trial}/recommendations/{reported}"
DESIGN: dict[str, Any] = {"name": "never made", "policy": "uniform", "arms": ["walk", "aspirin"]}
EXP3: dict[str, Any] = {"name": "never made", "policy": "exp3", "arms": ["walk", "aspirin"], "n_patients": 10}
TOKEN: dict[str, Any] = {"role": "site", "site": "Leeds", "label": "never made"}
FUTURE, LONG_AGO = (datetime.now(UTC) + timedelta(days=days) for days in (2, -4000))
NEEDS_PATIENTS = "this policy needs n_patients=… (the number of patients), to set EXP3's γ"
KEY_EXAMPLE = "3f0c9a52-6d1e-4f7b-9c58-2f1d7a40b6e1"
NO_KEY = (
    "the header Idempotency-Key is missing: a request sent twice under one key is executed once; "
    f"send a new one with each request and the same again with its repetition, e.g. Idempotency-Key: {KEY_EXAMPLE}"
)


class Bad(NamedTuple):
    """A request that must be refused, and what the problem must say; None: anything."""

    method: str
    path: str
    body: Any = None
    status: int | None = None
    field: str | None = None
    value: str | None = None
    expected: str | None = None
    detail: str | None = None
    title: str | None = None
    headers: Mapping[str, str] = MappingProxyType({})
    role: str = "admin"


def each(path: str, good: dict[str, Any], field: str, *wrong: Any) -> list[Bad]:
    """A request for each wrong value of a field."""
    return [Bad("POST", path, {**good, field: value}) for value in wrong]


def posts(path: str, *bodies: Any) -> list[Bad]:
    return [Bad("POST", path, body) for body in bodies]


def said(path: str, *rows: tuple[bytes, int, str]) -> list[Bad]:
    """Bodies by a site, each with the status and the detail of its problem."""
    return [Bad("POST", path, body, status, detail=detail, role="site") for body, status, detail in rows]


RECOMMENDATIONS = [
    *each(NEW, {}, "subject", "", " ", "\t", " S", "S ", "a\nb", "\x7f", "\ud800", "x" * 201, "\u202e"),
    *each(NEW, {}, "subject", None, 0, 1.5, True, [], {}, ["S"], {"name": "S"}),
    *posts(NEW, {}, {"Subject": "S"}, {"subject": "S", "ward": "A"}, [], b"null", 1, "S", [{"subject": "S"}]),
    *(
        Bad("POST", NEW, {"subject": subject}, 422, "subject", role="site")
        for subject in ("", " ", "a\nb", "a\u200b", "\ufffe", "x" * 201, "\U000e0001", None, 7, ["S"])
    ),
    *said(
        NEW,
        (b'{"subjct": "S"}', 422, "unknown field 'subjct'; did you mean 'subject'?"),
        (b'{"x": "S"}', 422, "unknown field 'x'; known are subject, stratum, site, again, refuse_alike"),
        (b"{}", 422, "the field 'subject' is missing"),
        (b'{"subject": "S", "subject": "T"}', 422, "'subject' is given twice"),
        (b'{"subject": "S", "sub\\u006aect": "T"}', 422, "'subject' is given twice"),
        (b'{"subject": 7}', 422, "subject: got 7, expected text"),
        (
            b'{"subject": "' + b"x" * 250 + b'"}',
            422,
            f"subject: got '{'x' * 119}…', expected at most 200 characters (got 250)",
        ),
        (b'{"subject": null}', 422, "subject: got null, expected text"),
        (b'{"subject": ["S"]}', 422, "subject: got a list, expected text"),
        (b'{"subject": "a\\nb"}', 422, "subject: got 'a\\nb', expected visible characters, not U+000A"),
        (b'{"subject": ""}', 422, "subject: got '', expected text that is not empty"),
        (b"", 400, "the body is empty; send a JSON object"),
        (b"[1]", 422, "body: expected an object"),
        (b'{"a": x}', 400, "the body is not valid JSON: line 1, column 7"),
        (b'{\n  "\xc3\xa9": x}', 400, "the body is not valid JSON: line 2, column 8"),
        (b'{"subject": ', 400, "the body is not valid JSON: line 1, column 13"),
        (b'{"subject": "\xff"}', 400, "the body is not valid UTF-8: line 1, column 14"),
    ),
    Bad("POST", NEW, b'{"subject": "' + b"x" * (64 * 1024) + b'"}', 413, role="site"),
]
REPORTS = [
    *each(f"{ONE}/reports", {}, "reward", -0.001, 1.001, 2, -1, 1e300, "0.5", "", [], {}, [1], 10**400),
    *each(f"{ONE}/reports", {}, "actual", "Walk", "walk ", "", "0", 0, -1, True, [], ["walk"], {"arm": "walk"}),
    *each(f"{ONE}/reports", {}, "actual", "x" * 300),
    *each(f"{ONE}/reports", {}, "took_nothing", "true", 1, 0, [], "yes"),
    *each(f"{ONE}/reports", {}, "took_other", "", " ", 5, True, "x" * 2001, "\x00", ["tea"]),
    *each(f"{ONE}/reports", {"reward": 1}, "happened", "today", "2026-13-01T00:00:00Z", 5, "", "2026-03-01", []),
    *each(f"{ONE}/reports", {"reward": 1}, "happened", FUTURE.isoformat(), LONG_AGO.isoformat()),
    *each(f"{ONE}/reports", {"reward": 1}, "happened", FUTURE.replace(tzinfo=None).isoformat()),
    *posts(
        f"{ONE}/reports",
        {"actual": "walk", "took_nothing": True},
        {"actual": "walk", "took_other": "tea"},
        {"took_nothing": True, "took_other": "tea"},
        {},
        {"took_nothing": False},
        {"reward": None},
        {"reward": 1, "comment": "fine"},
        {"reward": 1, "a\nb": 1},
        {"rewards": 1},
        {"arm": "walk"},
    ),
    *(
        Bad("POST", f"{ONE}/reports", body, status, field, value, role="site")
        for body, status, field, value in (
            (b"", 400, "body", None),
            (b"{", 400, "body", None),
            (b'{"reward": NaN}', 400, "body", None),
            (b'{"reward": Infinity}', 400, "body", None),
            (b'{"reward": 1e999}', 422, "reward", "1e999"),
            (b'\xff\xfe{"reward": 1}', 400, "body", None),
            (b'{"actual": "\xff"}', 400, "body", None),
            (b'{"actual": "\\ud800"}', 400, "body", None),
            (b'{"actual":' + b"[" * 30_000, 422, "actual", None),
            (b"[]", 422, "body", None),
            (b'"text"', 422, "body", None),
            (b"null", 422, "body", None),
            (b'{"reward": "1"}', 422, "reward", "1"),
            (b'{"reward": "true"}', 422, "reward", "true"),
            (b'{"reward": [1]}', 422, "reward", None),
            (b'{"reward": 1.01}', 422, "reward", "1.01"),
            (b'{"reward": -1e-9}', 422, "reward", "-1e-09"),
            (b'{"reward": 1e308}', 422, "reward", "1e+308"),
            (b'{"reward": ' + b"9" * 400 + b"}", 422, "reward", None),
            (b'{"reward": 123456789012345678901234567890}', 422, "reward", None),
            (b'{"actual": "aspirn"}', 422, "actual", "aspirn"),
            (b'{"actual": ""}', 422, "actual", ""),
            (b'{"actual": " walk"}', 422, "actual", " walk"),
            (b'{"actual": 1}', 422, "actual", "1"),
            (b'{"actual": "walk", "took_nothing": true}', 422, "actual and took_nothing", "both"),
            (b'{"took_nothing": 1}', 422, "took_nothing", "1"),
            (b'{"took_other": "\\u0000"}', 422, "took_other", None),
            (b'{"took_other": "\\u202e"}', 422, "took_other", None),
            (b'{"happened": "yesterday"}', 422, "happened", "yesterday"),
            (b'{"reward": 1, "happened": "2026-03-01T09:30:00"}', 422, "happened", None),
            (b'{"reward": 1, "happened": "9999-12-31T23:59:59-23:59"}', 422, "happened", None),
            (b'{"reward": 1, "happened": "0001-01-01T00:00:00+23:59"}', 422, "happened", None),
            (b'{"reward": 1, "rewrad": 1}', 422, "rewrad", None),
            (b"{}", 422, "report", None),
        )
    ),
    Bad("POST", f"{ONE}/reports", b'{"reward": -1e400}', 422, expected="a number from 0 to 1"),
    Bad("POST", f"{ONE}/reports", b'{"happened": "0000-00-00"}', 422, expected="a time such as 2026-03-01T09:30:00Z"),
    *said(
        f"{REPORTED}/reports",
        (b'{"reward": 1.5}', 422, "reward: got 1.5, expected a number from 0 to 1"),
        (b'{"reward": "1"}', 422, "reward: got '1', expected a number from 0 to 1, true or false"),
        (
            b'{"reward": 0}',
            409,
            "reward: conflicts with an earlier report for recommendation {reported}: got 0, before 1; "
            "to change it, send a correction",
        ),
        (
            b'{"actual": "aspirin"}',
            409,
            "actual: conflicts with an earlier report for recommendation {reported}: got 'aspirin', before 'walk'; "
            "to change it, send a correction",
        ),
    ),
]
CORRECTIONS = [
    *each(f"{ONE}/corrections", {"reward": 1}, "reason", "", " ", None, 7, "x" * 2001),
    *each(f"{ONE}/corrections", {"reason": "r"}, "retract", "reward", ["rewrad"], [1], {}, [["reward"]], []),
    *posts(
        f"{ONE}/corrections",
        {"reward": 1},
        {"reason": "r"},
        {"reason": "r", "reward": 2},
        {"reason": "r", "reward": 1, "retract": ["reward"]},
        {"reason": "r", "retract": ["actual"]},  # nothing was reported yet
    ),
    Bad(
        "POST",
        f"{ONE}/corrections",
        b'{"reason": "r", "retract": ["x"]}',
        422,
        expected="actual, reward or withdrawal",
        detail="retract[0]: got 'x', expected actual, reward or withdrawal",
        role="site",
    ),
]
BAD_DESIGNS: list[tuple[str, list[dict[str, Any]]]] = [
    ("policy", [{"policy": "tompson"}, {"policy": "hierarchical(" * 70}, {"policy": "burn-in(thompson)"}]),
    ("policy", [{"strata": ["young", "old"]}]),
    ("arms", [{"arms": ["walk"]}, {"arms": ["walk", "walk"]}, {"arms": [f"arm {n}" for n in range(101)]}]),
    ("arms[1]", [{"arms": ["walk", 2]}]),
    ("name", [{"name": "a/b"}, {"name": "tab\t"}]),
    ("seed", [*({"seed": seed, "rehearsal": True} for seed in (-1, 2**70, 1.5))]),
    ("seed", [{"seed": 7}, {"seed": "7", "blinded": True}]),
    ("n_patients", [{"n_patients": 0}, {"n_patients": 10**30}]),
    ("reward_values[0]", [{"reward_values": [2]}]),
    ("reward_values", [{"reward_values": []}]),
    ("impute.after_days", [{"impute": {"after_days": -1}}]),
    ("impute", [{"impute": {"after_days": 1}}]),
    ("impute.when", [{"impute": {"after_days": 1, "when": 2}}]),
    ("control", [{"control": "tea"}]),
    ("looks.at", [{"looks": {"at": [5, 5]}}, {"looks": {"every": 5, "at": [5]}}]),
    ("looks.at[1]", [{"looks": {"at": [5, "six"]}}]),
    ("update", [{"update": "at looks"}, {"update": "daily"}]),
    ("stopping.by", [{"stopping": {"superiority": 0.9}}, {"stopping": {"by": "belief", "superiority": 0.9}}]),
    ("stopping.inferiority", [{"stopping": {"by": "posterior", "superiority": 0.4, "inferiority": 0.6}}]),
    ("delay.by_arm", [{"delay": {"by_arm": {"tea": 1}}}, {"delay": {"by_arm": {"walk": "soon"}}}]),
    ("missing.outcome.rate", [{"missing": {"outcome": {"rate": 2}}}]),
    ("enrolment.per_day", [{"enrolment": {"per_day": 0}}]),
]
TRIALS = [
    *each("/trials", DESIGN, "name", "", "a/b", " a", "x" * 201, 5, None, "a\tb"),
    *each("/trials", DESIGN, "policy", "", "tompson", "exp3", "thompson(alpha=2)", "hierarchical(", 5, None, []),
    *each("/trials", DESIGN, "arms", [], ["a"], ["a", "a"], ["a", ""], "ab", {"a": 1}, ["a", 1], [["a", "b"]]),
    *each("/trials", DESIGN, "seed", 7, "7", -1, 2**53, "x", "-1", str(2**64), 1.5, [], True),
    *each("/trials", DESIGN | {"rehearsal": True}, "seed", -1, 2**53, "x", "-1", str(2**64), 1.5, [], True),
    *each("/trials", DESIGN, "n_patients", 0, -5, 1.5, "100", 2**53, True, []),
    *each("/trials", DESIGN, "reward_values", [2], ["1"], 1, "01", [[0, 1]], {"0": 1}),
    *each("/trials", DESIGN, "blinded", "yes", 1, None),
    *each("/trials", DESIGN, "impute", 5, {}, {"after_days": 0, "reward": 1}, {"after_days": 1}, [], "1 day"),
    *posts("/trials", DESIGN | {"blinded": True, "seed": "7"}),
    *posts("/trials", *({name: DESIGN[name] for name in DESIGN if name != left_out} for left_out in DESIGN)),
    *(Bad("POST", "/trials", EXP3 | change, 422, field) for field, changes in BAD_DESIGNS for change in changes),
    Bad("POST", "/trials", {**DESIGN, "arms": ["a", "b", "a"]}, 422, detail="arms: 'a' is listed twice"),
    Bad(
        "POST",
        "/trials",
        {**DESIGN, "policy": "exp3"},
        422,
        "n_patients",
        expected="the number of patients",
        detail=NEEDS_PATIENTS,
    ),
    Bad("POST", "/trials", {**DESIGN, "policy": "hierarchical(thompson)"}, 422, detail=NEEDS_PATIENTS),
    Bad(
        "POST",
        "/trials",
        {**DESIGN, "impute": {"after_dys": 1}},
        422,
        detail="unknown field 'impute.after_dys'; did you mean 'after_days'?",
    ),
]
TOKENS = [
    *each("/tokens", TOKEN, "role", "king", "", 1, None, ["site"], "Admin"),
    *each("/tokens", TOKEN, "site", "", "a/b", 1, None, " "),
    *each("/tokens", TOKEN, "label", "", None, 5, "x" * 201, "\x00"),
    *each("/tokens", TOKEN, "expires_at", "never", 5, LONG_AGO.isoformat(), "2200-01-01T00:00:00Z"),
    *each("/tokens", TOKEN, "expires_at", FUTURE.replace(tzinfo=None).isoformat()),
    *posts("/tokens", {**TOKEN, "role": "admin"}, {"role": "admin", "label": "x", "trial": "t"}),
    *posts("/tokens", {**TOKEN, "trial": "nowhere"}),
    *(
        Bad("POST", "/tokens", {"label": "x", **token}, 422, field)
        for token, field in (
            ({"role": "king"}, "role"),
            ({"role": "site"}, "site"),
            ({"role": "site", "site": "a/b"}, "site"),
            ({"role": "admin", "site": "A"}, "site"),
            ({"role": "statistician", "site": "A"}, "site"),
            ({"role": "admin", "trial": "x"}, "trial"),
            ({"role": "admin", "label": "\x00"}, "label"),
        )
    ),
    Bad(
        "POST",
        "/tokens",
        {"role": "king", "label": "x"},
        422,
        detail="role: got 'king', expected admin, coordinator, metrics, site or statistician",
    ),
]
HEADERS = [
    *(
        Bad("POST", NEW, {"subject": "S"}, 400, "Idempotency-Key", headers={"Idempotency-Key": key}, role="site")
        for key in (" ", "x" * 201, "a b", "ü")
    ),
    Bad("POST", NEW, {"subject": "S"}, 400, "Idempotency-Key", detail=NO_KEY, headers={"Idempotency-Key": ""}),
    Bad(
        "POST",
        NEW,
        {},
        400,
        detail=f"Idempotency-Key: got 'a b', expected 1 to 200 visible ASCII characters, e.g. {KEY_EXAMPLE}",
        headers={"Idempotency-Key": "a b"},
    ),
    *(
        Bad("POST", NEW, {"subject": "S"}, 415, expected="application/json", headers={"Content-Type": media})
        for media in ("", "text/plain", "application/jsonx", "application/x-www-form-urlencoded")
    ),
]
NO_NUMBERS = ("x", "-1", "1.5", "1e3", "%D9%A3", "9" * 20, "0x1", "+1", "1%20")
NO_IDS = ["0", "1", UNKNOWN_ID, UNKNOWN_ID[:-1], UNKNOWN_ID + "0", "UUUU-" * 3 + "UUUU", "٠" * 16, "%00" * 16]
NO_IDS += ["99", "-1", "4K7T-9QXA-M98F-RJC", *NO_NUMBERS]
NOWHERE = ["/nothing", "/trials/", "//trials", "/trials/x/y", "/trials/%ff", "/trials/a%2Fb/results"]
NOWHERE += ["/trials/nowhere", "/trials/%00", "/trials/%E2%80%AE", "/openapi.json/"]
IS_UNKNOWN = (
    "recommendation {} is not known here: check the ID. If it was given out before a backup was "
    "restored, do not send it again, and tell whoever runs the trial what was given to the subject"
)
READS = [
    *(Bad("GET", path, None, 404) for path in NOWHERE),
    *(
        Bad("GET", f"/trials/{{trial}}/{rest}")
        for rest in (
            "accesses?after=x",
            "accesses?after=-1",
            "export?fmt=parquet",
            "results?format=csv",
            "recommendations/..",
            "recommendations/",
            "result",
            "accesses?after=" + "9" * 40,
        )
    ),
    *(
        Bad("GET", f"/trials/{{trial}}/export?format={form}", None, 422, "format")
        for form in ("xlsx", "", "csv&format=log", "csv&format=csv", "%ff")
    ),
    *(Bad("GET", f"/trials/{{trial}}/waiting?after={quote(one, safe='%')}") for one in NO_IDS if "%" not in one),
    *(Bad("DELETE", f"/tokens/{number}", None, 404, "token") for number in NO_NUMBERS),
    *(Bad("DELETE", f"/simulations/{number}", None, 404, "simulation") for number in NO_NUMBERS),
    *(
        Bad(method, f"{NEW}/{quote(one, safe='%')}{rest}", body, 404, "recommendation", role=role)
        for one in NO_IDS
        for method, rest, body, role in (
            ("GET", "/derivation", None, "admin"),
            ("GET", "", None, "admin"),
            ("GET", "", None, "site"),
            ("POST", "/reports", {"reward": 1}, "site"),
        )
    ),
    *(
        Bad("GET", f"{NEW}/{one}", None, 404, detail=IS_UNKNOWN.format(shown), title="Not found", role="site")
        for one, shown in ((UNKNOWN_ID, f"'{UNKNOWN_ID}'"), ("7", "'7'"), ("x" * 200, f"'{'x' * 119}…'"))
    ),
    Bad("PUT", "/trials", None, 405, detail="this path takes GET, HEAD, POST", title="Method not allowed"),
    Bad("DELETE", "/trials", None, 405, detail="this path takes GET, HEAD, POST"),
    Bad("PUT", "/trials/{trial}", None, 405, detail="this path takes GET, HEAD"),
    Bad(
        "GET",
        "/trails",
        None,
        404,
        detail="there is nothing at this path; GET / says what there is",
        title="Not found",
    ),
]
TABLE = {
    "recommendations": RECOMMENDATIONS,
    "reports": REPORTS,
    "corrections": CORRECTIONS,
    "trials": TRIALS,
    "tokens": TOKENS,
    "headers": HEADERS,
    "reads": READS,
}


class Asking:
    """Requests over one connection for each role, about a trial with a new recommendation and a reported one."""

    def __init__(self, service: Service) -> None:
        self.service, self.trial = service, service.new_trial()
        site = service.client("site")
        self.new, self.reported = (site.recommend(self.trial, subject).id for subject in ("S-1", "S-2"))
        site.report(self.trial, self.reported, actual="walk", reward=1)
        self.connections = {
            role: http.client.HTTPConnection("127.0.0.1", service.port, timeout=20) for role in ("admin", "site")
        }
        self._n = 0

    def filled(self, text: str) -> str:
        """Return a text with the names and IDs in it filled in."""
        names = {"trial": self.trial, "new": self.new, "reported": self.reported, "recommendation_id": self.new}
        for name, value in {**names, "token": "0", "simulation": "0"}.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def refused(self, bad: Bad) -> None:
        """Send it; it must be refused, in one sentence that says what is wrong."""
        self._n += 1
        path, body = self.filled(bad.path), bad.body
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.service.token(bad.role)}", "Idempotency-Key": f"bad-{self._n}"}
        headers |= {"Content-Type": "application/json", **bad.headers}
        connection = self.connections[bad.role]
        sent = {name: value for name, value in headers.items() if value}
        try:
            connection.request(bad.method, path, data, sent)
        except (BrokenPipeError, ConnectionResetError):  # a body that is too large is not read to its end
            assert bad.status == 413
        answer = connection.getresponse()
        text = answer.read().decode()
        what = f"{bad.method} {path} {data!r:.300}: {answer.status} {text}"
        assert 400 <= answer.status < 500, what
        assert bad.status in (None, answer.status), what
        assert answer.headers["content-type"] == "application/problem+json", what
        if answer.status == 405:
            assert answer.headers["allow"] == (bad.detail or "").removeprefix("this path takes "), what
        problem = json.loads(text)
        assert problem["status"] == answer.status, what
        assert problem["type"].startswith("urn:adhere:problem:"), what
        assert problem["title"] == (bad.title or problem["title"]) != "", what
        assert problem["detail"] == (self.filled(bad.detail) if bad.detail else problem["detail"]) != "", what
        assert "\n" not in problem["detail"], what
        assert "Traceback" not in text, what
        assert problem["field"] == (bad.field or problem["field"]) != "", what
        assert bad.value is None or problem["value"] == bad.value, what
        if bad.expected is not None:
            assert problem["expected"] == bad.expected, what
            assert bad.detail or bad.status == 415 or problem["value"] in problem["detail"], what
        if answer.status == 422:
            assert problem["expected"], what
            assert not problem["expected"].startswith(("Invalid", "Number", "Integer")), what  # as the decoder has it
            odd = [words for words in ("Expected", "Invalid", "`", "None") if words in problem["detail"]]
            assert all(words in repr(data) for words in odd), what


@pytest.fixture(scope="module")
def asking(service: Service) -> Iterator[Asking]:
    """Return whoever asks, for all tests of this module."""
    one = Asking(service)
    yield one
    for connection in one.connections.values():
        connection.close()


def written(service: Service) -> Any:
    """The head of every log, and the number of tokens."""
    assert service.store is not None
    with service.store.reading() as view:
        heads = {name: view.head(number).hash for name, number in view.trials().items()}
        return heads, len(view.tokens())


@pytest.mark.parametrize("kind", TABLE)
def test_every_bad_request_is_refused_in_one_sentence(asking: Asking, kind: str) -> None:
    before = written(asking.service)
    for bad in TABLE[kind]:
        asking.refused(bad)
    assert written(asking.service) == before


AT_RANDOM = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=60,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
WRITING = [route for route in ROUTES if route.body is not None]  # each has an example of a body that is accepted
OBJECTS_BELONG = {
    "delay",
    "enrolment",
    "impute",
    "looks",
    "missing",
    "scenarios",
    "stopping",
}  # {} may be right
OBJECTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
).filter(lambda value: isinstance(value, dict))


def test_objects_where_none_belong_unknown_fields_and_bytes_of_any_kind(asking: Asking) -> None:
    @given(
        route=st.sampled_from(WRITING),
        value=OBJECTS,
        unknown=st.text(min_size=1),
        raw=st.binary(),
        part=st.floats(0, 0.99),
        data=st.data(),
    )
    @AT_RANDOM
    def refused(route: Any, value: Any, unknown: str, raw: bytes, part: float, data: st.DataObject) -> None:
        example = EXAMPLES[route.body]
        known = sorted({item.name for item in fields(route.body)} - OBJECTS_BELONG)
        whole = json.dumps(example).encode()
        bodies = ({**example, data.draw(st.sampled_from(known)): value}, {**example, f"{unknown}?": 1})
        for body in (*bodies, raw, whole[: int(part * len(whole))]):
            asking.refused(Bad(route.method, route.path, body))

    before = written(asking.service)
    refused()
    assert written(asking.service) == before


def test_what_people_type_is_accepted(asking: Asking) -> None:
    service, made = asking.service, asking.new
    for text in (made, made.lower(), made.replace("-", ""), made.replace("-", "%20"), made.replace("0", "o")):
        reply = service.send("GET", f"/trials/{asking.trial}/recommendations/{text}", role="site")
        assert (reply.status, reply.json["recommendation_id"]) == (200, made)
    assert service.send("HEAD", "/healthz").status == 200
    media = {"Content-Type": "Application/JSON; charset=utf-8"}
    path = f"/trials/{service.new_trial()}/recommendations"
    assert service.send("POST", path, {"subject": "S"}, role="site", headers=media).status == 201
