"""A commit of which nobody knows whether it happened differs from one that failed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from adhere.store import OutcomeUnknownError, StoreError, StoreUnavailableError
from adhere.store.postgres import PostgresStore

from .places import fill, make_trial, record
from .postgres_proxy import Fault, PostgresProxy


@pytest.fixture
def proxy(database_url: str) -> Iterator[PostgresProxy]:
    with closing(PostgresProxy(database_url)) as proxy:
        yield proxy


@pytest.mark.parametrize(("fault", "written"), [("lose the answer", 1), ("lose the commit", 0), ("stall", 1)])
def test_a_connection_that_breaks_at_the_commit(proxy: PostgresProxy, fault: Fault, written: int) -> None:
    with closing(PostgresStore(proxy.url, deadline=0.5)) as store:
        trial = make_trial(store)
        proxy.hang_up()
        proxy.fault = fault
        with pytest.raises(OutcomeUnknownError):
            fill(store, trial, record(1))
        store.check()  # ends the silence, as a service's probe does
        with store.reading() as view:
            assert len(view.records(trial)) == written


def test_what_the_server_itself_refuses_is_known(proxy: PostgresProxy) -> None:
    with closing(PostgresStore(proxy.url)) as store:
        trial = make_trial(store)
        with pytest.raises(StoreError) as caught:
            fill(store, trial, record(1, "same"), record(2, "same"))
        assert type(caught.value) is StoreUnavailableError


def test_a_connection_that_breaks_before_the_commit_is_known(proxy: PostgresProxy) -> None:
    with closing(PostgresStore(proxy.url)) as store:
        trial = make_trial(store)

        def break_it() -> None:
            with store.writing() as transaction:
                transaction.head(trial)
                proxy.hang_up()
                transaction.head(trial)

        with pytest.raises(StoreError) as caught:
            break_it()
        assert type(caught.value) is StoreUnavailableError


def test_a_lock_is_waited_for_only_within_the_deadline(database_url: str) -> None:
    with closing(PostgresStore(database_url, deadline=1.0)) as store, psycopg.connect(database_url) as other:
        trial = make_trial(store)
        other.execute("SELECT 1 FROM trials FOR UPDATE")
        begin = time.monotonic()

        def write() -> None:
            with store.writing() as transaction:
                transaction.lock_and_fetch(trial, [], [], [])()

        with pytest.raises(StoreError, match="lock timeout") as caught:
            write()
        assert type(caught.value) is StoreUnavailableError
        assert time.monotonic() - begin < 3.0
        store.check()
