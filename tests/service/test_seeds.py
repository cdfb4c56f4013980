"""Seeds go over HTTP as strings: JavaScript rounds numbers above 2**53."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from service.serving import ARMS, Service

LARGE = 2**64 - 1


def create(service: Service, seed: Any) -> Any:
    body = {"name": f"seed-{uuid.uuid4().hex}", "policy": "uniform", "arms": ARMS, "seed": seed}
    return service.send("POST", "/trials", body)


@pytest.mark.parametrize(
    ("sent", "kept"), [(str(LARGE), str(LARGE)), ("7", "7"), (7, "7"), (2**53 - 1, str(2**53 - 1))]
)
def test_a_seed_is_taken_as_a_string_or_a_safe_number_and_told_as_a_string(
    service: Service, sent: Any, kept: str
) -> None:
    made = create(service, sent)
    assert (made.status, made.json["design"]["seed"]) == (201, kept)
    assert service.send("GET", f"/trials/{made.json['design']['name']}").json["seed"] == kept


def test_a_drawn_seed_is_told_as_a_string_too(service: Service) -> None:
    assert isinstance(create(service, None).json["design"]["seed"], str)


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
    assert schemas["DesignView"]["properties"]["seed"]["type"] == "string"
    numbers = json.dumps([schemas[name]["properties"]["seed"] for name in ("DesignView", "TrialView")])
    assert "integer" not in numbers


def test_the_client_sends_any_seed(service: Service) -> None:
    name = f"seed-{uuid.uuid4().hex}"
    made = service.client().create_trial(name, "uniform", ARMS, seed=LARGE)
    assert made.seed == LARGE
    assert service.send("GET", f"/trials/{name}").json["seed"] == str(LARGE)
    assert service.client().create_trial(name, "uniform", ARMS, seed=LARGE) == made
