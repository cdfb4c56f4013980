"""Two trials of different secrets that drew the same arms are alike to everybody, until the secrets are revealed.

Every answer of the API, every page and every export of every role is compared byte for byte. Only what names a
recommendation, a kit, a commitment or a hash may differ: nothing else may follow from the secret.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import polars as pl
import pytest

from adhere.design.make_design import make_design
from adhere.design.parts import Looks
from adhere.service.api.follow_up import find_recommendations
from adhere.service.api.route import ALL_ROLES, METRICS
from adhere.service.pages.monitor import page as monitor_page
from adhere.service.pages.routes import PAGES, ROUTES
from adhere.service.settings import ServiceSettings
from adhere.store import open_store
from adhere.trial.domain.events import Recommended
from adhere.trial.secret.trial_secret import commitment_to
from adhere.trial.writing.processor import CommandProcessor
from service.serving import Reply, Service, in_thread, path_of
from trial.live import Live

from .person import sign_in
from .pinned import Pinned

TRIAL, ARMS = "headache", ("placebo", "verum")
N_SAME = 8  # patients who get the same arms under both secrets
FORMATS = {"export": ("csv", "parquet", "log"), "analysis": ("html", "json")}
HASHES = re.compile(
    r"\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b"  # of records, commands, subjects; commitments
    r'|(?<=\\"digest\\":\\")[0-9a-f]+'
    r'|(?<="hash":")[A-Za-z0-9+/]{43}=|(?<=">)[0-9a-f]{12}(?=</code>)'  # in base64, and shortened on a page
)
TIMES_OF_TOKENS = re.compile(r'(?<="made_at":")[^"]+')  # by another clock than the one that is pinned
# Without those of simulations, and without a stream, which is counted when it happens to end.
READ = [
    page
    for page in PAGES
    if page.method == "GET" and page.calls and not re.search("{token}|{simulation}|/events$", page.path)
]
Answers = dict[str, tuple[int, dict[str, str], str]]


def arms_under(secret: bytes, policy: str, like: list[int] | None = None) -> list[int]:
    """The first arms under a secret, up to the first that is not as in a list."""
    live, arms = Live(policy, secret=secret), []
    for number in range(N_SAME):
        made = live.recommend(f"S-{number}")
        (*_, event) = live.events()
        assert isinstance(event, Recommended)
        arms.append(event.chosen)
        if like is not None and like[number] != event.chosen:
            break
        if is_reported(number):
            live.report(made.recommendation_id, actual=made.arm, reward=float(number % 2))
    live.store.close()
    return arms


def is_reported(number: int) -> bool:
    """Whether a patient's outcome is known; the others wait."""
    return number < 4


def two_secrets(policy: str) -> tuple[bytes, bytes]:
    """Two secrets under which the first patients get the same arms, and not all the same one."""
    candidates: Iterator[bytes] = (hashlib.sha256(f"{policy} {number}".encode()).digest() for number in count())
    first = next(candidates)
    like = arms_under(first, policy)
    assert set(like) == {0, 1}
    return first, next(other for other in candidates if arms_under(other, policy, like) == like)


@pytest.mark.parametrize(
    ("policy", "blinded", "to_the_end"),
    [
        ("thompson/actual", False, False),
        *(
            pytest.param(policy, blinded, True, marks=pytest.mark.slow)
            for policy in ("thompson/actual", "uniform")
            for blinded in (False, True)
        ),
    ],
)
def test_whoever_asks_is_told_the_same(
    policy: str, blinded: bool, to_the_end: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = two_secrets(policy)
    assert len(set(secrets)) == 2
    pinned = Pinned(monkeypatch)
    monkeypatch.setattr(monitor_page, "_PATIENCE", 60.0)  # the page of the monitor comes with its numbers
    heard = []
    for secret in secrets:
        pinned.restart()
        store = open_store()  # in memory: everything is done in this process, by one clock
        design = make_design(TRIAL, policy, ARMS, n_patients=20, blinded=blinded, looks=Looks(at=(4,)))
        CommandProcessor(store, pinned.now).create(design, secret=secret)
        with in_thread(store, ServiceSettings(last_use_every=1e6)) as service:
            heard.append(everything(service, pinned, to_the_end=to_the_end))
            assert service.secret(TRIAL) == secret
    one, other = heard
    assert list(one) == list(other)
    assert {what: difference(answer, other[what]) for what, answer in one.items() if answer != other[what]} == {}
    assert len(one) > (250 if to_the_end else 150)
    shown = {what.split()[2] for what, (status, _, _) in one.items() if status == 200}
    assert shown >= {page.path for page in READ}


def difference(one: tuple[int, dict[str, str], str], other: tuple[int, dict[str, str], str]) -> tuple[str, str]:
    """Where two answers begin to differ."""
    texts = repr(one), repr(other)
    place = next((at for at, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), 0)
    return texts[0][max(place - 60, 0) : place + 60], texts[1][max(place - 60, 0) : place + 60]


def everything(service: Service, pinned: Pinned, *, to_the_end: bool) -> Answers:
    """All that a trial answers while it is run, and after its end, with what names something replaced."""
    heard: Answers = {}
    names = {commitment_to(service.secret(TRIAL)): "<commitment>"}

    def hear(role: str, what: str, reply: Reply) -> Reply:
        for place, made in enumerate(service.ids(TRIAL)):
            names.setdefault(made, f"<ID {place}>")
        packed = reply.headers.get("content-type", "").startswith(("text/plain", "application/vnd"))
        left_out = {"date", "content-length"} if packed else {"date"}  # of numbers that time took, and of packed IDs
        headers = {name: plain(value, names) for name, value in reply.headers.items() if name not in left_out}
        heard[f"{role} {what} ({len(heard)})"] = (reply.status, headers, plain(text_of(reply), names))
        pinned.tick()
        return reply

    for role in sorted(ALL_ROLES):
        service.token(role)
        pinned.tick()
    recommendations = "/recommendations"
    for number in range(N_SAME):
        reply = service.send("POST", f"/trials/{TRIAL}{recommendations}", {"subject": f"S-{number}"}, role="site")
        assert reply.status == 201, reply.body
        if "kit" in reply.json:
            names[reply.json["kit"]] = f"<kit {number}>"
        made = hear("site", "POST", reply).json
        given, path = made.get("kit") or made["arm"], f"{recommendations}/{made['recommendation_id']}"
        if is_reported(number):
            body = {"actual": given, "reward": number % 2}
            reply = service.send("POST", f"/trials/{TRIAL}{path}/reports", body, role="site")
            assert hear("site", "POST reports", reply).status == 201
    reads(service, hear)
    if not to_the_end:
        return heard
    one, two, three, *_ = (f"/trials/{TRIAL}{recommendations}/{made}" for made in service.ids(TRIAL))
    bodies: dict[str, dict[str, Any]] = {
        f"{one}/reports": {"reward": 1},  # which contradicts
        f"{one}/corrections": {"took_other": "tea", "reason": "a slip"},
        f"{two}/withdrawal": {"reason": "moved away"},
        f"{three}/error": {"reason": "typed twice"},
    }
    for place, (path, body) in enumerate(bodies.items()):
        hear("site", f"POST {place}", service.send("POST", path, body, role="site"))
    for role in ("site", "admin"):
        body = {"kit": given, "reason": "an emergency"}
        hear(role, "POST unblindings", service.send("POST", f"/trials/{TRIAL}/unblindings", body, role=role))
    hear("admin", "POST reveal", service.send("POST", f"/trials/{TRIAL}/reveal", {"reason": "too early"}))
    hear(
        "admin", "POST close", service.send("POST", f"/trials/{TRIAL}/close", {"reason": "done", "accept_open": True})
    )
    reads(service, hear)
    return heard


def reads(service: Service, hear: Callable[[str, str, Reply], Reply]) -> None:
    """All reads of all roles."""
    second = service.ids(TRIAL)[1]
    for role in sorted(ALL_ROLES):
        for route in ROUTES:
            if route.method != "GET" or re.search("{token}|{simulation}", route.path):
                continue
            path = path_of(route, TRIAL, second)
            forms = [f"?format={form}" for form in FORMATS.get(path.rpartition("/")[2], ())]
            if route.handler is find_recommendations:
                forms = ["?subject=S-1", f"?recommendation_id={second}"]
            for place, form in enumerate(forms or [""]):
                hear(role, f"GET {route.path} {place}", service.send("GET", path + form, role=role))
        if role != METRICS:
            person = sign_in(service, role)
            for page in READ:
                hear(role, f"GET {page.path}", person.get(path_of(page, TRIAL, second)))


def text_of(reply: Reply) -> str:
    """What an answer says, without how long things took."""
    if "parquet" in reply.headers.get("content-type", ""):
        return pl.read_parquet(io.BytesIO(reply.body)).write_csv()
    text = reply.body.decode()
    if text.startswith("# HELP"):
        untimed = [line for line in text.splitlines() if not re.search("seconds|process_|python_|_created", line)]
        assert any(line.startswith("adhere_commits_total") for line in untimed)
        return "\n".join(untimed)
    return text


def plain(text: str, names: dict[str, str]) -> str:
    """A text in which IDs, kits and commitments are replaced by their places, and hashes by a sign."""
    for name, place in names.items():
        text = text.replace(name, place)
    return HASHES.sub("<hash>", TIMES_OF_TOKENS.sub("<time>", text))
