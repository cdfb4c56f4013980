"""Policies that are described, and designs that are checked without creating a trial."""

from __future__ import annotations

from typing import Any

import pytest

import adhere
from adhere.design.words import in_words
from adhere.policies.base.registry import registry
from service.both_clients import BOTH, MakeClient
from service.serving import ARMS, Service

FILE = """
name = "never made"
policy = "burn-in(floor(thompson, share=0.2), patients=40)"
arms = ["walk", "aspirin"]
n_patients = 300
looks.every = 100

[scenarios]
effect = 0.1
"""


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_every_policy_is_described_with_its_parameters(service: Service, make: MakeClient) -> None:
    with make(service.url, service.token("statistician")) as client:
        found = {policy.name: policy for policy in client.policies()}
    assert list(found) == sorted(registry)
    thompson, floor, exp3 = found["thompson"], found["floor"], found["exp3"]
    assert thompson.summary.startswith("Draw θ_j ~ Beta")
    assert (thompson.parameters, thompson.protocols) == ([], ("chosen", "actual", "comply"))
    assert (floor.kind, floor.protocols, floor.states_probabilities) == ("guard", (), None)
    share = next(one for one in floor.parameters if one.name == "share")
    assert (share.default, share.required) == ("0.1", False)
    assert (share.meaning, share.expected) == (
        "Minimum probability s_j of each arm.",
        "a number at least 0 and at most 1",
    )
    assert next(one for one in floor.parameters if one.name == "inner").required
    assert [name for name, one in found.items() if one.needs_n_patients and one.kind == "learner"] == [
        "bayes-optimal",
        "exp3",
        "gittins",
    ]
    assert exp3.parameters[0].default is None


def test_the_text_of_a_file_is_checked_and_described_and_nothing_is_created(service: Service) -> None:
    reply = service.send("POST", "/designs", {"design": FILE}, role="statistician")
    design = adhere.load_design(FILE)
    assert (reply.status, reply.json["design_digest"]) == (200, design.digest)
    assert reply.json["description"] == in_words(design)
    assert reply.json["warnings"] == [
        "stopping: this design has 3 looks, but no rule that could stop its trial before the last"
    ]
    assert service.send("POST", "/designs", {"design": design.to_json()}).json == reply.json
    assert "never made" not in service.client().trials()


@pytest.mark.parametrize(
    ("design", "field"),
    [
        ("/etc/hostname", "design"),  # never the path of a file
        ('{"name": ', "design"),
        (FILE.replace("every = 100", 'every = "x"'), "looks.every"),
        (FILE.replace("share=0.2", "share=2"), "floor share"),
        (FILE + "\n[seed]", "seed"),
        ({"name": "a", "policy": "thompson", "arms": "ab"}, "design.arms"),
        ({"name": "a", "policy": "thompson", "arms": ARMS, "control": "run"}, "control"),
    ],
)
def test_a_mistake_is_refused_with_its_field(service: Service, design: Any, field: str) -> None:
    reply = service.send("POST", "/designs", {"design": design})
    assert (reply.status, reply.json["field"]) == (422, field)
