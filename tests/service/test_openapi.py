"""The OpenAPI document is valid, and the service does what it says, also when asked at random."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation.stateful.state_machine import APIStateMachine
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from adhere.service.api.openapi import document
from adhere.service.api.routes import GROUPS
from adhere.service.http.problems import KINDS
from adhere.service.pages.routes import ROUTES
from adhere.service.settings import ServiceSettings
from service.serving import Service, in_file

DOCUMENT = json.loads(document(ROUTES))
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
AT_RANDOM = settings(
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
ONE_AFTER_ANOTHER = ["create_trial", "recommend", "report", "correct", "withdraw", "show_recommendation", "results"]
NO_LUCK_NEEDED = {"policy": "uniform", "arms": ["walk", "aspirin"]}
OPERATIONS: list[Any] = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that does not mind how often somebody comes without a token: here that depends on luck."""
    folder = tmp_path_factory.mktemp("patient")
    with in_file(folder / "trials.db", ServiceSettings(failure_rate=1e6, failure_burst=1e6)) as running:
        yield running


def test_the_document_has_every_route_of_the_table(service: Service) -> None:
    assert service.send("GET", "/openapi.json", role=None).json == DOCUMENT
    for route in ROUTES:
        operation = DOCUMENT["paths"][route.path][route.method.lower()]
        statuses = {str(route.status), *(str(KINDS[kind][0]) for kind in route.kinds)}
        assert set(operation["responses"]) == statuses
        assert bool(operation["security"]) == bool(route.roles)
        assert (operation["operationId"], operation["tags"]) == (route.name, [route.group])
    assert sum(len(methods) for methods in DOCUMENT["paths"].values()) == len(ROUTES)


def test_the_page_of_the_api_has_every_operation_under_its_group(service: Service) -> None:
    page = service.send("GET", "/docs", role=None, headers={"Accept": "text/html"}).body.decode()
    sections = {part.partition("</h2>")[0]: part for part in page.split("<section><h2>")[1:]}
    assert list(sections) == [*GROUPS, "Objects"]
    for route in ROUTES:
        assert f'<details id="{route.name}">' in sections[route.group]
    assert 'id="monitor"' in sections["Results"]
    assert 'id="enrolment"' in sections["Trials"]


def test_the_document_is_valid() -> None:
    SCHEMA.validate()
    for name, schema in DOCUMENT["components"]["schemas"].items():
        assert name.isidentifier()  # two types of one name would have the names of their modules, too
        jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_the_service_does_what_the_document_says(patient: Service, operation: Any) -> None:
    trial = patient.new_trial()
    made = patient.client().recommend(trial, "S-1").id
    right = operation.as_strategy()
    wrong = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)

    @given(case=right | wrong if operation.body or operation.path_parameters else right, real=st.booleans())
    @settings(AT_RANDOM, max_examples=12)
    def holds(case: Any, real: bool) -> None:
        if real and "trial" in case.path_parameters:
            case.path_parameters["trial"] = trial
            if "recommendation_id" in case.path_parameters:
                case.path_parameters["recommendation_id"] = made
        _check(patient, case)

    holds()


def _spare_our_token(case: Any) -> None:
    ends_a_token = case.operation.label in ("DELETE /tokens/{token}", "POST /tokens/{token}/rotation")
    if ends_a_token and str(case.path_parameters["token"]) == "1":
        case.path_parameters["token"] = 0


def _check(service: Service, case: Any) -> None:
    _spare_our_token(case)
    if case.operation.label == "GET /explorations":
        case.query = {**(case.query or {}), "patients": 10, "runs": 5}  # what decides how long it takes
    answer = case.call(base_url=service.url, headers={"Authorization": f"Bearer {service.admin}"})
    case.validate_response(answer, checks=CHECKS)


def test_so_it_does_when_one_answer_leads_to_the_next_request(patient: Service) -> None:
    reached: defaultdict[str, set[int]] = defaultdict(set)

    class Machine(SCHEMA.include(operation_id=ONE_AFTER_ANOTHER).as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            headers = {"Authorization": f"Bearer {patient.admin}", "Idempotency-Key": str(uuid.uuid4())}
            return {"headers": headers, "base_url": patient.url}

        def before_call(self, case: Any) -> None:
            _spare_our_token(case)
            if case.operation.label == "POST /trials" and isinstance(case.body, dict):
                case.body = {**NO_LUCK_NEEDED, "name": str(uuid.uuid4())}  # few texts are policies by chance
            if case.operation.label.endswith("/recommendations") and isinstance(case.body, dict):
                case.body = {"subject": "S-1"}
            if case.operation.label.endswith("/reports") and isinstance(case.body, dict):
                case.body = {"reward": 1}

        def after_call(self, response: Any, case: Any) -> None:
            reached[case.operation.label].add(response.status_code)

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            case.validate_response(response, checks=CHECKS)

    assert issubclass(Machine, APIStateMachine)
    Machine.run(settings=settings(AT_RANDOM, max_examples=15, stateful_step_count=10))
    assert 201 in reached["POST /trials/{trial}/recommendations"]
    assert 201 in reached["POST /trials/{trial}/recommendations/{recommendation_id}/reports"]
    assert 200 in reached["GET /trials/{trial}/recommendations/{recommendation_id}"]
