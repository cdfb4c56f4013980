"""The contract of both clients: one table of all calls, carried out by each against a real service."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import uuid
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, assert_type, get_args

import msgspec
import polars as pl
import pytest

import adhere
import adhere_client
from adhere.client import Client
from adhere_client import AsyncClient, calls
from adhere_client.responses import Response
from adhere_client.responses.log import Access, LogPage, Reproduction, Verification
from adhere_client.responses.monitor import Monitor
from adhere_client.responses.recommendations import (
    IssuedRecommendation,
    RecommendationDetails,
    Recorded,
    Unblinding,
)
from adhere_client.responses.results import Results
from adhere_client.responses.service import IssuedToken, TokenDetails
from adhere_client.responses.trials import Design, TrialDetails, TrialEnrolment
from service.both_clients import BOTH, MakeClient
from service.serving import ARMS, Service

CALLS = {
    name: call
    for module in (calls.designs, calls.recommendations, calls.tokens, calls.trials)
    for name, call in vars(module).items()
    if inspect.isfunction(call) and call.__module__ == module.__name__ and not name.startswith("_")
}


class Row(NamedTuple):
    """A call of a trial, who makes it, and the type of its answer."""

    who: str
    call: str
    answer: type[Response]
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = MappingProxyType({})
    raw: str | None = None  # the path that gives the same in JSON, with the first of the arguments


class Nth(NamedTuple):
    """The ID of a recommendation, by its place among those of the trial."""

    place: int


NOW = object()  # the time when a call is made, which may be long after this file was read
OF_A_TRIAL = (
    Row("admin", "create_trial", Design, ("thompson/actual", ARMS)),
    Row("site", "recommend", IssuedRecommendation, ("S-1",), {"request_id": "one"}),
    Row("site", "report", Recorded, (Nth(0),), {"actual": "walk", "reward": True, "happened": NOW}),
    Row("site", "recommend", IssuedRecommendation, ("S-2",)),
    Row("site", "report", Recorded, (Nth(1),), {"took_other": "ibuprofen"}),
    Row("site", "correct", Recorded, (Nth(1), "a slip"), {"took_nothing": True}),
    Row("site", "withdraw", Recorded, (Nth(1), "moved away")),
    Row("site", "recommend", IssuedRecommendation, ("S-3",)),
    Row("site", "mark_in_error", Recorded, (Nth(2), "entered twice"), {"subject": "S-3"}),
    Row("site", "recommendation", RecommendationDetails, (Nth(2),), raw="/recommendations/{}"),
    Row("admin", "pause", Recorded, ("a look at the data",)),
    Row("admin", "resume", Recorded, ("all is well",)),
    Row("site", "trial", TrialDetails, raw=""),
    Row("admin", "trial", TrialDetails, raw=""),
    Row("site", "recommendation", RecommendationDetails, (Nth(0),), raw="/recommendations/{}"),
    Row("admin", "recommendation", RecommendationDetails, (Nth(1),), raw="/recommendations/{}"),
    Row("admin", "results", Results, raw="/results"),
    Row("admin", "monitor", Monitor, raw="/monitor"),
    Row("admin", "enrolment", TrialEnrolment, raw="/enrolment"),
    Row("admin", "records", LogPage, raw="/records"),
    Row("admin", "derive_again", Reproduction, (Nth(1),), raw="/recommendations/{}/derivation"),
    Row("admin", "verify", Verification),
    Row("admin", "erase", Recorded, ("S-1",), {"site": "A"}),
    Row("admin", "end_trial", Recorded, ("done",)),
    Row("admin", "reveal", Recorded, ("the analysis is done",)),
)


def test_both_have_every_call_with_the_same_arguments_and_answer() -> None:
    for client in (adhere_client.Client, AsyncClient):
        own = {name for name in vars(client) if not name.startswith("_")} - {"close"}
        assert own == set(CALLS)
        for name in CALLS:
            call = inspect.signature(CALLS[name], eval_str=True)
            method = inspect.signature(getattr(client, name))
            assert list(method.parameters.values())[1:] == list(call.parameters.values())
            assert get_args(call.return_annotation)[-1] == method.return_annotation
            assert inspect.getdoc(getattr(client, name))
    assert inspect.iscoroutinefunction(AsyncClient.recommend)


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_a_trial_from_its_beginning_to_its_end(service: Service, tmp_path: Path, make: MakeClient) -> None:
    trial, tried = (
        f"whole-{uuid.uuid4().hex[:12]}",
        {"trials", "sites", "accesses", "export", "analysis", "looks", "list_trials"},
    )
    with make(service.url, service.admin) as admin, make(service.url, service.token("site")) as site:
        for row in OF_A_TRIAL:
            client = {"admin": admin, "site": site}[row.who]
            options = {name: datetime.now(UTC) if one is NOW else one for name, one in row.options.items()}
            args = [service.ids(trial)[one.place] if isinstance(one, Nth) else one for one in row.args]
            answer = getattr(client, row.call)(trial, *args, **options)
            assert type(answer) is row.answer
            assert json.loads(json.dumps(answer.to_dict())) == json.loads(answer.to_json())
            assert msgspec.json.decode(msgspec.json.encode(answer), type=row.answer) == answer
            if row.raw is not None:
                path = f"/trials/{trial}{row.raw.format(*args)}"
                assert answer.to_dict() == service.send("GET", path, role=row.who).json
            tried.add(row.call)
        found = admin.results(trial)
        assert (found.recommendations, found.complete, found.lost_to_follow_up, found.entered_in_error) == (
            3,
            1,
            1,
            1,
        )
        shown = admin.trial(trial)
        assert not hasattr(shown, "seed")
        assert (len(shown.commitments), shown.revealed) == (1, True)
        assert admin.verify(trial).secret == "revealed"
        first = admin.recommendation(trial, service.ids(trial)[0])
        assert admin.trials()[trial] == "closed"
        raw = service.send("GET", "/trials").json["trials"]
        assert [line.to_dict() for line in admin.list_trials()] == raw
        for form in ("csv", "parquet", "log"):
            file = tmp_path / f"trial.{form}"
            assert admin.export(trial, file, form) == shown.head
            assert file.stat().st_size > 100
            assert file.stat().st_mode & 0o777 == 0o600
        assert pl.read_parquet(tmp_path / "trial.parquet")["TRTP"].to_list()[0] == first.arm
        file = tmp_path / "analysis.json"
        assert admin.analysis(trial, file) == admin.trial(trial).head
        assert json.loads(file.read_text())["n_patients"] == 2
        assert admin.looks(trial) == []  # as its design has none; tests/service/test_looks.py has some
        assert set(admin.sites(trial)) >= {"A"}
        rows = admin.accesses(trial)
        raw = service.send("GET", f"/trials/{trial}/accesses").json["accesses"]
        assert [type(line) for line in rows] == [Access] * len(raw)
        assert [line.to_dict() for line in rows] == raw
        with pytest.raises(adhere.ConflictError, match="closed"):
            site.recommend(trial, "S-3")
        assert tried >= set(CALLS) - {
            "create_trial_from",
            "check_design",
            "explore",
            "policies",
            "start_simulation",
            "simulation",
            "simulations",
            "stop_simulation",
            "simulation_report",
            "make_token",
            "rotate_token",
            "make_link",
            "tokens",
            "revoke_token",
            "unblind",
            *("waiting", "recommendations", "alike"),  # tests/service/test_follow_up.py
        }


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_a_trial_is_created_from_a_design(service: Service, make: MakeClient, tmp_path: Path) -> None:
    name, file = f"designed-{uuid.uuid4().hex[:8]}", tmp_path / "design.toml"
    design = adhere.load_design(
        {
            "name": name,
            "policy": "thompson",
            "arms": ARMS,
            "n_patients": 90,
            "looks": {"at": [30, 60]},
            "rehearsal": True,
        }
    )
    file.write_text(design.to_toml() + "[scenarios]\neffect = 0.1\n")
    with make(service.url, service.admin) as admin:
        checked = admin.check_design(file)
        assert (checked.design_digest, checked.file) == (design.digest, design.to_toml())
        assert name not in admin.trials()
        made = admin.create_trial_from(design, seed=7)
        assert checked.design == made
        assert (made.name, made.n_patients, made.looks) == (name, 90, {"at": [30, 60]})
        assert admin.create_trial_from(file) == admin.create_trial_from(json.loads(design.to_json())) == made
        assert admin.trial(name).design_digest == design.digest
        assert service.seed(name) == 7
        for bad, text in (("design.yaml", ""), ("none.toml", ""), ("bad.toml", "name ="), ("list.json", "[]")):
            if bad != "none.toml":
                (tmp_path / bad).write_text(text)
            with pytest.raises(adhere.InputError, match="design"):
                admin.create_trial_from(tmp_path / bad)


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_tokens_and_kits(service: Service, make: MakeClient) -> None:
    trial = service.new_trial(blinded=True)
    with make(service.url, service.admin) as admin:
        made = admin.make_token("site", "ward 7", site="ward 7", trial=trial)
        assert type(made) is IssuedToken
        with make(service.url, f"\t{made.token}\n") as site:  # as read from a file
            kit = site.recommend(trial, "S-1").kit
            assert kit is not None
            assert type(admin.unblind(trial, kit, "an emergency")) is Unblinding
            assert admin.make_link(made.id).path.startswith("/app/sign-in#link=lnk_")
            new = admin.rotate_token(made.id)
            with pytest.raises(adhere.ServiceError, match="401"):
                site.trials()
        for token in (made, new):
            assert token.token in token.to_json()
            assert token.token not in f"{token!r} {token} {list(token.__rich_repr__())} {admin.tokens()}"
        admin.revoke_token(new.id)
        admin.revoke_token(new.id)  # once more changes nothing
        listed = {line.id: line for line in admin.tokens()}
        assert type(listed[new.id]) is TokenDetails
        assert listed[new.id].status == listed[made.id].status == "revoked"
        with pytest.raises(adhere.ConflictError, match="revoked"):
            admin.make_link(new.id)
        with pytest.raises(adhere.UnknownError):
            admin.revoke_token(10**9)


def test_type_checkers_know_the_answers() -> None:
    """For mypy, which reads it: nothing here is run."""

    def blocking(client: Client) -> None:
        assert_type(client.recommend("t", "S-1"), IssuedRecommendation)
        assert_type(client.trials(), dict[str, str])
        assert_type(client.accesses("t"), list[Access])
        client.recommend("t", subjct="S-1")  # type: ignore[call-arg]

    async def awaiting(client: AsyncClient) -> None:
        assert_type(await client.recommend("t", "S-1"), IssuedRecommendation)
        assert_type(await client.results("t"), Results)

    assert blocking is not None
    assert awaiting is not None


def test_threads_and_tasks_may_share_a_client(service: Service) -> None:
    trial = service.new_trial(policy="uniform")
    subjects = [f"S-{number}" for number in range(40)]
    with adhere.Client(service.url, service.admin) as client, ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda subject: client.recommend(trial, subject), subjects))

    async def again() -> list[IssuedRecommendation]:
        async with adhere.AsyncClient(service.url, service.admin) as client:
            return await asyncio.gather(*(client.recommend(trial, subject) for subject in subjects))

    assert {recommendation.id for recommendation in made} == set(service.ids(trial))
    assert len(service.ids(trial)) == 40
    assert asyncio.run(again()) == made  # each subject's is open


def test_a_client_that_nobody_closes_leaves_no_socket_open(service: Service) -> None:
    def use() -> None:
        adhere.Client(service.url, service.admin).trials()

    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        use()
        gc.collect()
