"""Seeds are for rehearsals only. They go to the service as strings, since JavaScript rounds, and never come back."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from adhere.errors import InputError
from adhere.trial.secret.trial_secret import commitment_to
from adhere.trial.writing.creation import WHY_NO_SEED
from service.serving import ARMS, Reply, Service

LARGE = 2**64 - 1


def create(service: Service, seed: Any, *, rehearsal: bool = True, **design: Any) -> Reply:
    body = {"name": f"trial-{uuid.uuid4().hex}", "policy": "uniform", "arms": ARMS, "rehearsal": rehearsal, **design}
    return service.send("POST", "/trials", {**body, "seed": seed})


@pytest.mark.parametrize("blinded", [False, True])
@pytest.mark.parametrize("seed", [0, 7, "7", str(LARGE)])
def test_a_trial_that_is_no_rehearsal_takes_no_seed(service: Service, seed: Any, blinded: bool) -> None:
    before = service.client().trials()
    reply = create(service, seed, rehearsal=False, blinded=blinded)
    assert (reply.status, reply.json["field"], reply.json["expected"]) == (422, "seed", "none")
    assert reply.json["detail"] == f"seed: got {seed}, expected none: {WHY_NO_SEED}"
    with pytest.raises(InputError, match="anyone who knows or guesses a seed can predict every arm"):
        service.client().create_trial("seeded", "uniform", ARMS, blinded=blinded, seed=int(seed))
    assert service.client().trials() == before


def test_a_trial_draws_a_secret_of_its_own(service: Service) -> None:
    names = [create(service, None, rehearsal=rehearsal).json["design"]["name"] for rehearsal in (False, True)]
    secrets = {service.secret(name) for name in names}
    assert len(secrets) == 2
    for name in names:
        shown = service.client().trial(name)
        assert service.seed(name) is None
        assert shown.commitments == (commitment_to(service.secret(name)),)
        assert service.client().verify(name).secret == "kept"


@pytest.mark.parametrize(("sent", "kept"), [(str(LARGE), LARGE), ("7", 7), (7, 7), (2**53 - 1, 2**53 - 1)])
def test_the_seed_of_a_rehearsal_is_a_string_or_a_safe_number_and_stands_in_the_log_alone(
    service: Service, sent: Any, kept: int
) -> None:
    made = create(service, sent)
    name = made.json["design"]["name"]
    shown = service.send("GET", f"/trials/{name}")
    assert (made.status, shown.status) == (201, 200)
    assert service.seed(name) == kept
    assert "commitments" not in shown.json
    assert service.client().verify(name).secret == "seed"
    listed = next(one for one in service.send("GET", "/trials").json["trials"] if one["name"] == name)
    results = service.send("GET", f"/trials/{name}/results")
    for reply in (*(one.body.decode() for one in (made, shown, results)), json.dumps(listed)):
        assert "seed" not in reply.replace(name, "")
        assert kept < 100 or str(kept) not in reply


def test_two_rehearsals_with_a_seed_draw_the_same_arms_and_other_ids(service: Service) -> None:
    arms, ids = [], set()
    for _ in range(2):
        name = create(service, 7).json["design"]["name"]
        made = [service.client("site").recommend(name, f"S-{number}") for number in range(16)]
        arms.append([one.arm for one in made])
        ids |= {one.id for one in made}
    assert arms[0] == arms[1]
    assert set(arms[0]) == set(ARMS)
    assert len(ids) == 32


def test_another_seed_is_another_rehearsal(service: Service) -> None:
    name = f"trial-{uuid.uuid4().hex}"
    assert create(service, 7, name=name).status == 201
    for seed, status in ((7, 201), (None, 201), (8, 409)):
        assert create(service, seed, name=name).status == status
    assert service.seed(name) == 7


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
    assert all("seed" not in schemas[name]["properties"] for name in ("Design", "TrialDetails", "CreatedTrial"))


def test_the_client_sends_any_seed(service: Service) -> None:
    name = f"trial-{uuid.uuid4().hex}"
    made = service.client().create_trial(name, "uniform", ARMS, rehearsal=True, seed=LARGE)
    assert service.seed(name) == LARGE
    assert service.client().create_trial(name, "uniform", ARMS, rehearsal=True, seed=LARGE) == made
