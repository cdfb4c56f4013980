"""No answer to a site has the position of a record, the index of a recommendation or a count of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from adhere.service.api.route import SITE
from adhere.service.pages.routes import PAGES, ROUTES
from service.pages.person import sign_in
from service.serving import Reply, Service, path_of
from service.test_roles import BODIES

IDS = re.compile(r"(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}")
NUMBERS = {"total", "reward", "reward_values", "status"}  # of its own waiting, its outcomes, and of HTTP


def named_numbers(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Every number in an answer, with the name of the field that it is in."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from named_numbers(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from named_numbers(inner, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


@pytest.fixture(scope="module")
def trial(service: Service) -> str:
    """A trial in which others are busy between what site A does, and in which there are looks."""
    looks = {"n_patients": 40, "looks": {"at": [1, 2, 3]}, "stopping": {"by": "posterior", "superiority": 0.5}}
    name = service.new_trial(policy="uniform", **looks)
    for number in range(3):
        made = service.client("other").recommend(name, f"theirs-{number}")
        service.client("other").report(name, made.id, actual=made.arm, reward=number % 2)
    return name


def test_a_site_gets_receipts_without_a_position_and_others_with_one(service: Service, trial: str) -> None:
    path = f"/trials/{trial}/recommendations"
    made = service.send("POST", path, {"subject": "S-1"}, role="site").json
    assert made.keys() == {"recommendation_id", "arm"}
    one = f"{path}/{made['recommendation_id']}"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("reports", {"actual": made["arm"], "reward": 1}),
        ("reports", {"reward": 1}),  # only acknowledged
        ("corrections", {"reward": 0, "reason": "a slip"}),
        ("corrections", {"retract": ["actual", "reward"], "reason": "another patient's"}),
        ("withdrawal", {"reason": "moved away"}),
        ("corrections", {"retract": ["withdrawal"], "reason": "came back"}),
        ("error", {"reason": "typed twice"}),
        ("error", {"reason": "typed twice"}),
    ]
    for number, (what, body) in enumerate(calls):
        replies = [
            service.send("POST", f"{one}/{what}", body, role="site", key=f"{trial}-{number}") for _ in range(2)
        ]
        assert [reply.status for reply in replies] == [201, 201], replies[0].body
        assert replies[0].body == replies[1].body
        assert replies[0].json.keys() == {"at", "recommendation_id"}
        assert replies[0].json["recommendation_id"] == made["recommendation_id"]
    by_admin = service.send("POST", f"{one}/error", {"reason": "typed twice"}).json
    assert by_admin["record"] == service.client().trial(trial).records


def test_no_number_in_an_answer_to_a_site_counts_what_others_do(service: Service, trial: str) -> None:
    made = service.client("site").recommend(trial, "S-2")
    seen: dict[str, Reply] = {}
    for route in ROUTES:
        if SITE in route.roles and route.path != "/explorations" and "/simulations" not in route.path:
            query = "?subject=S-2" if route.path.endswith("/recommendations") and route.method == "GET" else ""
            body = BODIES[route.body] if route.body is not None else None
            path = path_of(route, trial, made.id) + query
            seen[f"{route.method} {route.path}"] = service.send(route.method, path, body, role="site")
    assert {reply.status for reply in seen.values()} <= {200, 201, 409}
    for what, reply in seen.items():
        found = {name: value for name, value in named_numbers(reply.json) if name not in NUMBERS}
        assert found == {}, what
        for inner in ("record", "position", "index", "head", "learned_up_to", "n_patients", "look"):
            assert f'"{inner}"' not in reply.body.decode(), what
    total = service.send("GET", f"/trials/{trial}/waiting", role="site").json["total"]
    assert total == len(service.client("site").waiting(trial))


def test_no_page_of_a_site_numbers_recommendations_or_records(service: Service, trial: str) -> None:
    made, person = service.client("site").recommend(trial, "S-3"), sign_in(service, "site")
    pages = [page for page in PAGES if page.method == "GET" and SITE in page.roles and "{trial}" in page.path]
    assert len(pages) >= 4
    for page in pages:
        shown = person.get(path_of(page, trial, made.id))
        assert shown.status == 200
        text = re.sub(r"<[^>]*>", " ", shown.body.decode())
        assert set(IDS.findall(shown.body.decode())) <= set(service.ids(trial))
        assert not re.search(r"\b(?:record|recommendation|look|position)s? (?:no\. ?)?\d+\b", text, re.IGNORECASE)


def test_ids_have_no_order(service: Service) -> None:
    """Neither as texts nor by their letters: each place has many letters, and neighbours share few."""
    trial = service.new_trial(policy="uniform")
    made = [service.client("site").recommend(trial, f"S-{number}").id for number in range(200)]
    letters = ["".join(one.split("-")) for one in made]
    rises = sum(one < following for one, following in pairwise(made))
    assert 60 < rises < 140  # 99.5 expected, with a standard deviation of 4.1
    for place in range(16):
        assert len({one[place] for one in letters}) > 20
    shared = sum(a == b for one, other in pairwise(letters) for a, b in zip(one, other, strict=True))
    assert shared < 200  # 99.5 expected, with a standard deviation of 9.8
