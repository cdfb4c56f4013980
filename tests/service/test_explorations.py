"""Explorations over HTTP: the numbers of `adhere.simulate`, clear refusals, and no wait for what is out of date."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import adhere
from adhere.exploration.presets import Group, Settings, population_of
from adhere.exploration.results import Exploration
from adhere.service.http.problems import ProblemError
from adhere.service.jobs.exploring import Explorer
from service.both_clients import BOTH, MakeClient
from service.serving import Service

SMALL = "/explorations?policies=thompson,thompson/actual&runs=20&patients=40"


def test_the_numbers_are_those_of_simulate_with_the_same_seed(service: Service) -> None:
    found = service.send(
        "GET", f"{SMALL}&seed=3&never_takers=0.1&compliers=0.4&compliers_control=0.9", role="coordinator"
    ).json
    groups = [Group(**one) for one in found["settings"]["groups"]]
    assert [one.share for one in groups] == [0.1, 0.5, 0.4, 0.0]
    assert groups[2].control == 0.9
    expected = adhere.simulate(["thompson", "thompson/actual"], population_of(groups), 40, 20, 3, grid=40)
    for one, outcome in zip(found["policies"], expected, strict=True):
        assert one["surplus"]["mean"] == outcome.surplus.mean
        assert one["regret"]["high"] == outcome.regret.high
        assert one["allocation_treatment"]["mean"] == outcome.allocation["treatment"].mean
        assert one["regret_curve"]["mean"] == outcome.trajectory("regret").mean.tolist()
        assert one["surplus_curve"]["low"] == outcome.trajectory("surplus").low.tolist()
    assert found["t"] == list(expected.config.grid)


def test_one_run_has_no_interval_and_policies_may_be_given_one_by_one(service: Service) -> None:
    path = "/explorations?policies=thompson/actual&policies=thompson&runs=1&patients=40"
    first, second = service.send("GET", path).json["policies"]
    assert (first["policy"], second["policy"]) == ("thompson", "thompson/actual")  # in the order of the list
    assert first["surplus"]["low"] is first["surplus_curve"]["low"] is None


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("compliers=0.4", "add up to 0.9; they must add up to 1"),
        ("compliers=half", "compliers: got 'half', expected a number from 0 to 1"),
        ("defiers_control=1.5", "defiers_control: got '1.5', expected a number from 0 to 1"),
        ("never_takers=nan", "never_takers: got 'nan'"),
        ("preset=rich", "preset: got 'rich', expected one of rich-and-poor"),
        ("policies=thompson,tompson/actual", "did you mean 'thompson/actual'?"),
        ("policies=thompson,thompson", "'thompson' is listed twice"),
        ("policies=", "policies: 0 given; expected 1 to 6 policies"),
        ("patients=5", "patients: got '5', expected a whole number from 10 to 10,000"),
        ("runs=1.5", "runs: got '1.5', expected a whole number"),
        ("runs=2000&patients=10000", "too many to show at once"),
        ("seed=-1", "seed: got '-1'"),
        ("shares=1", "unknown parameter 'shares'"),
    ],
)
def test_what_cannot_be_explored_is_refused_in_a_sentence(service: Service, query: str, says: str) -> None:
    reply = service.send("GET", f"/explorations?{query}")
    assert reply.status == 422
    assert says in reply.json["detail"]


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_clients_explore(service: Service, make: MakeClient) -> None:
    with make(service.url, service.token("coordinator")) as client:
        options: dict[str, Any] = {"policies": ["thompson"], "runs": 20, "patients": 40}
        types = {"always-takers": (0.0, 0.5, 0.5), "compliers": (1.0, 0.2, 0.8)}
        found = client.explore(compliance_types=types, **options)
        assert found.sentence.startswith("Nobody is fooled: recommending the treatment is better by 0.6 per patient")
        assert (
            found.to_dict()
            == service.send(
                "GET",
                "/explorations?policies=thompson&runs=20&patients=40&always_takers=0&always_takers_control=0.5"
                "&always_takers_treatment=0.5&compliers=1&compliers_control=0.2&compliers_treatment=0.8",
            ).json
        )
        with pytest.raises(adhere.InputError, match="three numbers"):
            client.explore(compliance_types={"compliers": (1.0,)})


def test_a_newer_one_of_the_same_user_takes_the_place_of_one_that_waits() -> None:
    explorer, begun, go_on = Explorer(), threading.Event(), threading.Event()
    done: list[int] = []

    def simulated(settings: Settings) -> Exploration:
        begun.set()
        assert go_on.wait(10)
        done.append(settings.seed)
        return settings  # type: ignore[return-value]

    async def ask() -> list[Any]:
        explorer._process.call = simulated  # type: ignore[method-assign]
        tasks = [asyncio.create_task(explorer.explore(7, Settings(seed=0)))]
        await asyncio.to_thread(begun.wait, 10)
        for user, seed in ((7, 1), (8, 2), (7, 3)):
            tasks.append(asyncio.create_task(explorer.explore(user, Settings(seed=seed))))
            await asyncio.sleep(0)
        go_on.set()
        found = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        found.append(await explorer.explore(9, Settings(seed=2)))
        return found

    try:
        first, superseded, other, newest, again = asyncio.run(ask())
    finally:
        explorer.close()
    assert isinstance(superseded, ProblemError)
    assert superseded.kind == "conflict"
    assert [one.seed for one in (first, other, newest, again)] == [0, 2, 3, 2]
    assert done == [0, 2, 3]  # what was found before is kept
