"""The client for async code."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from adhere_client import calls
from adhere_client.connection import Connection
from adhere_client.files import replacing
from adhere_client.request import Request, Response, Result, Steps
from adhere_client.signatures import as_method

Arguments = ParamSpec("Arguments")
Answered = TypeVar("Answered")


def _awaiting(
    steps_of: Callable[Arguments, Steps[Answered]],
) -> Callable[Concatenate[AsyncClient, Arguments], Coroutine[Any, Any, Answered]]:
    """A call as a method to be awaited."""

    @wraps(steps_of)
    async def method(self: AsyncClient, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answered:
        with self._raising_own():
            steps = steps_of(*args, **kwargs)
            try:
                request = next(steps)
                while True:
                    request = steps.send(await self._execute(request))
            except StopIteration as end:
                answer: Answered = end.value
                return answer

    return as_method(method, steps_of)


class AsyncClient(Connection):
    """The service at an address, for the holder of a token, in async code: `Client` with calls to be awaited.

    ::

        async with AsyncClient("https://trials.example.org", token) as client:
            recommendation = await client.recommend("headache", "patient-17")
            await client.report("headache", recommendation.id, actual=recommendation.arm, reward=1)

    Many tasks may share a client, within one event loop (asyncio, or trio where it is installed).

    Parameters
    ----------
    url, token, timeout, tries
        As of `Client`.

    """

    def __init__(self, url: str, token: str, *, timeout: float = 30.0, tries: int = 8) -> None:
        import httpcore  # when it is needed: importing this package stays quick

        super().__init__(url, token, timeout=timeout, tries=tries)
        self._pool = httpcore.AsyncConnectionPool(**self._pool_options())

    async def close(self) -> None:
        """Close the connections."""
        self._closed = True
        await self._pool.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.close()

    async def _execute(self, request: Request[Result]) -> Result:
        """Send a request until it is answered."""
        import anyio

        arguments, attempts = self._encode(request), self._attempts(request)
        while True:
            try:
                response = await self._send(request, arguments)
            except self._failures as error:
                pause = attempts.pause_after_failure(error)
            else:
                waiting = attempts.pause_after(response)
                if waiting is None:
                    return self._answer(request, response)
                pause = waiting
            await anyio.sleep(pause)

    async def _send(self, request: Request[Any], arguments: dict[str, Any]) -> Response:
        async with self._pool.stream(**arguments) as got:
            body = b""
            if request.into is not None and got.status < 300:
                with replacing(request.into) as file:
                    async for part in got.aiter_stream():
                        file.write(part)  # 64 KiB into the system's cache: no reason to start a thread
            else:
                body = await got.aread()
            return self._respond(got.status, got.headers, body)

    create_trial = _awaiting(calls.create_trial)
    create_trial_from = _awaiting(calls.create_trial_from)
    check_design = _awaiting(calls.check_design)
    policies = _awaiting(calls.policies)
    start_simulation = _awaiting(calls.start_simulation)
    simulation = _awaiting(calls.simulation)
    simulations = _awaiting(calls.simulations)
    stop_simulation = _awaiting(calls.stop_simulation)
    simulation_report = _awaiting(calls.simulation_report)
    trials = _awaiting(calls.trials)
    list_trials = _awaiting(calls.list_trials)
    trial = _awaiting(calls.trial)
    recommend = _awaiting(calls.recommend)
    recommendation = _awaiting(calls.recommendation)
    report = _awaiting(calls.report)
    correct = _awaiting(calls.correct)
    withdraw = _awaiting(calls.withdraw)
    mark_in_error = _awaiting(calls.mark_in_error)
    pause = _awaiting(calls.pause)
    resume = _awaiting(calls.resume)
    end_trial = _awaiting(calls.end_trial)
    reveal = _awaiting(calls.reveal)
    unblind = _awaiting(calls.unblind)
    erase = _awaiting(calls.erase)
    sites = _awaiting(calls.sites)
    enrolment = _awaiting(calls.enrolment)
    waiting = _awaiting(calls.waiting)
    recommendations = _awaiting(calls.recommendations)
    alike = _awaiting(calls.alike)
    results = _awaiting(calls.results)
    looks = _awaiting(calls.looks)
    monitor = _awaiting(calls.monitor)
    analysis = _awaiting(calls.analysis)
    records = _awaiting(calls.records)
    derive_again = _awaiting(calls.derive_again)
    verify = _awaiting(calls.verify)
    accesses = _awaiting(calls.accesses)
    explore = _awaiting(calls.explore)
    export = _awaiting(calls.export)
    make_token = _awaiting(calls.make_token)
    rotate_token = _awaiting(calls.rotate_token)
    make_link = _awaiting(calls.make_link)
    tokens = _awaiting(calls.tokens)
    revoke_token = _awaiting(calls.revoke_token)
