"""Several processes on one PostgreSQL that do the same, or the opposite, at one moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from adhere.access.tokens import Tokens
from adhere.design.make_design import make_design
from adhere.errors import ConflictError
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend
from adhere.trial.writing.processor import CommandProcessor
from service.serving import ARMS, Reply, Service, in_thread, serving_again

ROUNDS = 5


def at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """What functions return or raise that are all let go at the same moment."""
    barrier = threading.Barrier(len(works))

    def go(work: Callable[[], Any]) -> Any:
        barrier.wait(30.0)
        try:
            return work()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(go, works))


@pytest.fixture
def services(database_url: str) -> Iterator[list[Service]]:
    """Three services on one database, each with a store of its own."""
    with ExitStack() as stack:
        first = stack.enter_context(in_thread(open_store(database_url)))
        others = [stack.enter_context(serving_again(open_store(database_url), first.admin)) for _ in range(2)]
        yield [first, *others]


def create(service: Service, name: str, **more: Any) -> Callable[[], Reply]:
    body = {"name": name, "policy": "uniform", "arms": ARMS, **more}
    return lambda: service.send("POST", "/trials", body)


def test_one_design_from_many_clients_is_one_trial_and_one_answer(services: list[Service]) -> None:
    for number in range(ROUNDS):
        replies = at_once([create(service, f"t-{number}") for service in services * 4])
        assert {reply.status for reply in replies} == {201}, [reply.body for reply in replies]
        assert len({reply.body for reply in replies}) == 1
        assert services[0].secret(f"t-{number}") == services[1].secret(f"t-{number}")


def test_of_many_designs_under_one_name_one_is_created(services: list[Service]) -> None:
    for number in range(ROUNDS):
        designs = [create(service, f"t-{number}", n_patients=n) for n, service in enumerate(services * 4, 1)]
        replies = at_once(designs)
        assert sorted(reply.status for reply in replies) == [201] + [409] * 11
        assert {reply.json.get("field") for reply in replies} == {None, "name"}


def test_a_processor_of_each_process_acknowledges_the_same_design(database_url: str) -> None:
    processors = [CommandProcessor(open_store(database_url)) for _ in range(4)]
    for number in range(ROUNDS):
        design = make_design(f"t-{number}", "uniform", ARMS)
        works = [lambda processor=processor: processor.create(design).record for processor in processors]  # noqa: B023
        assert at_once(works) == [1] * 4
    for processor in processors:
        processor.store.close()


def test_an_admin_who_was_revoked_elsewhere_changes_no_token(database_url: str) -> None:
    stores = [open_store(database_url) for _ in range(2)]
    here, there = (Tokens(store) for store in stores)
    one, other, third = (here.make("admin", f"admin {number}")[0].id for number in range(3))
    there.revoke(one, by=other)  # of which the first service has not heard yet
    for change in (here.revoke, here.rotate):
        with pytest.raises(ConflictError, match="meanwhile"):
            change(third, by=one)
    with pytest.raises(ConflictError, match="meanwhile"):
        here.make("admin", "another", by=one)
    for store in stores:
        store.close()


def test_a_databases_own_isolation_level_fails_no_writer(database_url: str) -> None:
    url = database_url.replace("options=", "options=-cdefault_transaction_isolation%3Dserializable%20")
    processors = [CommandProcessor(open_store(url)) for _ in range(4)]
    processors[0].create(make_design("t", "uniform", ARMS))

    def write(number: int) -> None:
        for n in range(20):
            processors[number].execute([Recommend(trial="t", request_id=f"{number}-{n}", subject=f"{number}-{n}")])

    found = at_once([partial(write, number) for number in range(4)])
    for processor in processors:
        processor.store.close()
    assert found == [None] * 4


def test_admins_that_revoke_each_other_leave_one(database_url: str) -> None:
    stores = [open_store(database_url) for _ in range(2)]
    here, there = (Tokens(store) for store in stores)
    for _ in range(ROUNDS):
        with stores[0].writing() as writing:
            writing.run("DELETE FROM tokens")
        one, other = (here.make("admin", "an admin")[0].id for _ in range(2))
        found = at_once([lambda: here.revoke(other), lambda: there.revoke(one)])  # noqa: B023
        assert sorted(type(answer).__name__ for answer in found) == ["ConflictError", "NoneType"], found
        with stores[0].reading() as view:
            assert [token.revoked_at for token in view.tokens()].count(None) == 1
    assert any(isinstance(answer, ConflictError) for answer in found)
    for store in stores:
        store.close()


def test_of_services_that_start_at_once_one_makes_the_first_token(database_url: str) -> None:
    stores = [open_store(database_url) for _ in range(4)]
    made = at_once([Tokens(store).make_first for store in stores])
    assert sorted(type(text).__name__ for text in made) == ["NoneType"] * 3 + ["str"]
    for store in stores:
        store.close()
