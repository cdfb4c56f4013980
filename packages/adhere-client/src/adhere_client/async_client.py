"""The client for async code."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from adhere_client import calls
from adhere_client.connection import Connection, as_method
from adhere_client.files import replacing
from adhere_client.request import HttpResponse, Request, Result, Steps

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

    async def _send(self, request: Request[Any], arguments: dict[str, Any]) -> HttpResponse:
        async with self._pool.stream(**arguments) as got:
            body = b""
            if request.into is not None and got.status < 300:
                with replacing(request.into) as file:
                    async for part in got.aiter_stream():
                        file.write(part)  # 64 KiB into the system's cache: no reason to start a thread
            else:
                body = await got.aread()
            return self._respond(got.status, got.headers, body)

    create_trial = _awaiting(calls.designs.create_trial)
    create_trial_from = _awaiting(calls.designs.create_trial_from)
    check_design = _awaiting(calls.designs.check_design)
    policies = _awaiting(calls.designs.policies)
    start_simulation = _awaiting(calls.designs.start_simulation)
    simulation = _awaiting(calls.designs.simulation)
    simulations = _awaiting(calls.designs.simulations)
    stop_simulation = _awaiting(calls.designs.stop_simulation)
    simulation_report = _awaiting(calls.designs.simulation_report)
    trials = _awaiting(calls.trials.trials)
    list_trials = _awaiting(calls.trials.list_trials)
    trial = _awaiting(calls.trials.trial)
    recommend = _awaiting(calls.recommendations.recommend)
    recommendation = _awaiting(calls.recommendations.recommendation)
    report = _awaiting(calls.recommendations.report)
    correct = _awaiting(calls.recommendations.correct)
    withdraw = _awaiting(calls.recommendations.withdraw)
    mark_in_error = _awaiting(calls.recommendations.mark_in_error)
    pause = _awaiting(calls.trials.pause)
    resume = _awaiting(calls.trials.resume)
    end_trial = _awaiting(calls.trials.end_trial)
    reveal = _awaiting(calls.trials.reveal)
    unblind = _awaiting(calls.recommendations.unblind)
    erase = _awaiting(calls.recommendations.erase)
    sites = _awaiting(calls.trials.sites)
    enrolment = _awaiting(calls.trials.enrolment)
    waiting = _awaiting(calls.recommendations.waiting)
    recommendations = _awaiting(calls.recommendations.recommendations)
    alike = _awaiting(calls.recommendations.alike)
    results = _awaiting(calls.trials.results)
    looks = _awaiting(calls.trials.looks)
    monitor = _awaiting(calls.trials.monitor)
    analysis = _awaiting(calls.trials.analysis)
    records = _awaiting(calls.trials.records)
    derive_again = _awaiting(calls.trials.derive_again)
    verify = _awaiting(calls.trials.verify)
    accesses = _awaiting(calls.trials.accesses)
    explore = _awaiting(calls.designs.explore)
    export = _awaiting(calls.trials.export)
    make_token = _awaiting(calls.tokens.make_token)
    rotate_token = _awaiting(calls.tokens.rotate_token)
    make_link = _awaiting(calls.tokens.make_link)
    tokens = _awaiting(calls.tokens.tokens)
    revoke_token = _awaiting(calls.tokens.revoke_token)
