"""Seeds go to the service as strings, since JavaScript rounds numbers above 2**53, and never come back."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from service.serving import ARMS, Service

LARGE = 2**64 - 1


def create(service: Service, seed: Any) -> Any:
    body = {"name": f"trial-{uuid.uuid4().hex}", "policy": "uniform", "arms": ARMS, "seed": seed}
    return service.send("POST", "/trials", body)


@pytest.mark.parametrize(
    ("sent", "kept"), [(str(LARGE), LARGE), ("7", 7), (7, 7), (2**53 - 1, 2**53 - 1), (None, None)]
)
def test_a_seed_is_taken_as_a_string_or_a_safe_number_and_stands_in_the_log_alone(
    service: Service, sent: Any, kept: int | None
) -> None:
    made = create(service, sent)
    name = made.json["design"]["name"]
    shown = service.send("GET", f"/trials/{name}")
    assert (made.status, shown.status) == (201, 200)
    seed = service.seed(name)
    assert kept in (None, seed)
    listed = next(one for one in service.send("GET", "/trials").json["trials"] if one["name"] == name)
    results = service.send("GET", f"/trials/{name}/results")
    for reply in (*(one.body.decode() for one in (made, shown, results)), json.dumps(listed)):
        assert "seed" not in reply.replace(name, "")
        assert seed < 100 or str(seed) not in reply


def test_another_seed_is_another_trial(service: Service) -> None:
    body: dict[str, Any] = {"name": f"trial-{uuid.uuid4().hex}", "policy": "uniform", "arms": ARMS, "seed": 7}
    assert service.send("POST", "/trials", body).status == 201
    for seed, status in ((7, 201), (None, 201), (8, 409)):
        assert service.send("POST", "/trials", {**body, "seed": seed}).status == status
    assert service.seed(body["name"]) == 7


@pytest.mark.parametrize("seed", [2**53, 2**53 + 1, LARGE, 2**70, str(2**64), "-1", "1.5", "", "٣", " 7", "0x7", -1])
def test_a_seed_that_may_have_been_rounded_or_is_none_is_refused(service: Service, seed: Any) -> None:
    reply = create(service, seed)
    assert (reply.status, reply.json["field"]) == (422, "seed")
    assert reply.json["detail"] == (
        f"seed: got {seed!r}, expected a whole number from 0 to 2**64 - 1, "
        "as a string if it is 2**53 or more (JavaScript would round the number)"
    )


@pytest.mark.parametrize("seed", [1.5, True, [7]])
def test_a_seed_of_another_type_is_refused(service: Service, seed: Any) -> None:
    reply = create(service, seed)
    assert (reply.status, reply.json["field"]) == (422, "seed")
    assert reply.json["detail"].endswith("expected a whole number or text")


def test_the_document_says_so_and_no_other_number_may_be_that_large(service: Service) -> None:
    schemas = service.send("GET", "/openapi.json", role=None).json["components"]["schemas"]
    whole = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
    kinds = schemas["NewTrial"]["properties"]["seed"]["anyOf"]
    assert [{name: kind.get(name) for name in whole} for kind in kinds if kind["type"] == "integer"] == [whole]
    assert [kind["type"] for kind in kinds] == ["integer", "string", "null"]
    assert all("seed" not in schemas[name]["properties"] for name in ("DesignView", "TrialView", "TrialCreated"))


def test_the_client_sends_any_seed(service: Service) -> None:
    name = f"trial-{uuid.uuid4().hex}"
    made = service.client().create_trial(name, "uniform", ARMS, seed=LARGE)
    assert service.seed(name) == LARGE
    assert service.client().create_trial(name, "uniform", ARMS, seed=LARGE) == made
