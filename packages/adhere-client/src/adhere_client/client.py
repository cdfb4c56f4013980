"""The two clients: `Client` blocks, `AsyncClient` is for async code."""

from __future__ import annotations

import inspect
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Generic, ParamSpec, Self, TypeVar, get_args, overload

from adhere_client import calls
from adhere_client.connection import Connection
from adhere_client.files import replacing
from adhere_client.request import HttpResponse, Request, Result, Steps

Arguments = ParamSpec("Arguments")
Answered = TypeVar("Answered")


class Call(Generic[Arguments, Answered]):
    """A call as type checkers see it: a method of `Client`, or a coroutine method of `AsyncClient`."""

    def __init__(self, steps_of: Callable[Arguments, Steps[Answered]]) -> None:
        self.steps_of = steps_of

    @overload
    def __get__(self, client: Client, owner: Any = None) -> Callable[Arguments, Answered]: ...

    @overload
    def __get__(
        self, client: AsyncClient, owner: Any = None
    ) -> Callable[Arguments, Coroutine[Any, Any, Answered]]: ...

    @overload
    def __get__(self, client: None, owner: Any = None) -> Callable[..., Any]: ...

    def __get__(self, client: object, owner: Any = None) -> Any:
        return self.steps_of

    def shown_on(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Give a method the signature of its call: self, the call's parameters, and the result instead of steps."""
        signature = inspect.signature(self.steps_of, eval_str=True)
        itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        result = get_args(signature.return_annotation)[-1]  # the argument of Steps[result]
        shown = signature.replace(parameters=[itself, *signature.parameters.values()], return_annotation=result)
        method.__signature__ = shown  # type: ignore[attr-defined]
        return method


class Calls(Connection):
    """The calls of both clients. Each client replaces every call by a method that carries it out."""

    create_trial = Call(calls.designs.create_trial)
    create_trial_from = Call(calls.designs.create_trial_from)
    check_design = Call(calls.designs.check_design)
    policies = Call(calls.designs.policies)
    start_simulation = Call(calls.designs.start_simulation)
    simulation = Call(calls.designs.simulation)
    simulations = Call(calls.designs.simulations)
    stop_simulation = Call(calls.designs.stop_simulation)
    simulation_report = Call(calls.designs.simulation_report)
    trials = Call(calls.trials.trials)
    list_trials = Call(calls.trials.list_trials)
    trial = Call(calls.trials.trial)
    recommend = Call(calls.recommendations.recommend)
    recommendation = Call(calls.recommendations.recommendation)
    report = Call(calls.recommendations.report)
    correct = Call(calls.recommendations.correct)
    withdraw = Call(calls.recommendations.withdraw)
    mark_in_error = Call(calls.recommendations.mark_in_error)
    pause = Call(calls.trials.pause)
    resume = Call(calls.trials.resume)
    end_trial = Call(calls.trials.end_trial)
    reveal = Call(calls.trials.reveal)
    unblind = Call(calls.recommendations.unblind)
    erase = Call(calls.recommendations.erase)
    sites = Call(calls.trials.sites)
    enrolment = Call(calls.trials.enrolment)
    waiting = Call(calls.recommendations.waiting)
    recommendations = Call(calls.recommendations.recommendations)
    alike = Call(calls.recommendations.alike)
    results = Call(calls.trials.results)
    looks = Call(calls.trials.looks)
    monitor = Call(calls.trials.monitor)
    analysis = Call(calls.trials.analysis)
    records = Call(calls.trials.records)
    derive_again = Call(calls.trials.derive_again)
    verify = Call(calls.trials.verify)
    accesses = Call(calls.trials.accesses)
    explore = Call(calls.designs.explore)
    export = Call(calls.trials.export)
    make_token = Call(calls.tokens.make_token)
    rotate_token = Call(calls.tokens.rotate_token)
    make_link = Call(calls.tokens.make_link)
    tokens = Call(calls.tokens.tokens)
    revoke_token = Call(calls.tokens.revoke_token)

    _method_of: Callable[[Callable[..., Steps[Any]]], Callable[..., Any]]
    _send: Callable[[Request[Any], dict[str, Any]], Awaitable[HttpResponse]]
    _sleep: Callable[[float], Awaitable[None]]

    def __init_subclass__(cls) -> None:
        if "_method_of" in vars(cls):
            for name, call in list(vars(Calls).items()):
                if isinstance(call, Call):
                    setattr(cls, name, call.shown_on(cls._method_of(call.steps_of)))

    async def _carry_out(self, steps_of: Callable[..., Steps[Result]], *args: Any, **kwargs: Any) -> Result:
        """Carry out a call, request by request."""
        with self._raising_own():
            steps = steps_of(*args, **kwargs)
            try:
                request = next(steps)
                while True:
                    request = steps.send(await self._execute(request))
            except StopIteration as end:
                result: Result = end.value
                return result

    async def _execute(self, request: Request[Result]) -> Result:
        """Send a request, with retries, until it is answered."""
        arguments, attempts = self._encode(request), self._attempts(request)
        while True:
            try:
                response = await self._send(request, arguments)
                pause = attempts.pause_after(response)
                if pause is None:
                    return self._answer(request, response)
            except self._failures as error:
                pause = attempts.pause_after_failure(error)
            await self._sleep(pause)


class Client(Calls):
    """The service at an address, for the holder of a token.

    ::

        with Client("https://trials.example.org", token) as client:
            recommendation = client.recommend("headache", "patient-17")
            client.report("headache", recommendation.id, actual=recommendation.arm, reward=1)

    If an answer is lost, or the service asks the client to wait, the call is repeated with increasing pauses. The
    logger `adhere_client` logs each repetition. Each request has an ID, so that a request whose answer was lost is
    not executed twice. Give a `request_id` if your program might repeat the call itself, for example after a crash.
    If this client has never reached the service, the call fails at once.

    If the service refuses a value, an `InputError` is raised, or its subclass `UnknownError` or `ConflictError`.
    Every other failure raises a `ServiceError`. Several threads may share a client. `close()`, or the end of `with`,
    closes its connections; to end a trial, call `end_trial`.

    Parameters
    ----------
    url
        The address of the service.
    token
        A token of the service; its role decides what may be called. It is never printed or logged.
    timeout
        Seconds to wait for an answer.
    tries
        How often a call is repeated.

    """

    def __init__(self, url: str, token: str, *, timeout: float = 30.0, tries: int = 8) -> None:
        import httpcore  # imported here so that importing this package is fast

        super().__init__(url, token, timeout=timeout, tries=tries)
        self._pool = httpcore.ConnectionPool(**self._pool_options())
        weakref.finalize(self, self._pool.close)  # for callers that neither call close() nor use `with`

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    async def _send(self, request: Request[Any], arguments: dict[str, Any]) -> HttpResponse:
        with self._pool.stream(**arguments) as got:
            body = b""
            if request.into is not None and got.status < 300:
                with replacing(request.into) as file:
                    for part in got.iter_stream():
                        file.write(part)
            else:
                body = got.read()
            return self._respond(got.status, got.headers, body)

    async def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    @staticmethod
    def _method_of(steps_of: Callable[..., Steps[Any]]) -> Callable[..., Any]:
        @wraps(steps_of)
        def method(self: Client, /, *args: Any, **kwargs: Any) -> Any:
            try:
                self._carry_out(steps_of, *args, **kwargs).send(None)  # ends at once: all its awaits block
            except StopIteration as end:
                return end.value

        return method


class AsyncClient(Calls):
    """The service at an address, for the holder of a token, in async code. It has the same calls as `Client`, which
    are awaited.

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
        import httpcore  # imported here so that importing this package is fast

        super().__init__(url, token, timeout=timeout, tries=tries)
        self._pool = httpcore.AsyncConnectionPool(**self._pool_options())

    async def close(self) -> None:
        """Close the connections."""
        self._closed = True
        await self._pool.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _send(self, request: Request[Any], arguments: dict[str, Any]) -> HttpResponse:
        async with self._pool.stream(**arguments) as got:
            body = b""
            if request.into is not None and got.status < 300:
                with replacing(request.into) as file:
                    async for part in got.aiter_stream():
                        file.write(part)  # 64 KiB into the system's cache: fast enough without a thread
            else:
                body = await got.aread()
            return self._respond(got.status, got.headers, body)

    async def _sleep(self, seconds: float) -> None:
        import anyio

        await anyio.sleep(seconds)

    @staticmethod
    def _method_of(steps_of: Callable[..., Steps[Any]]) -> Callable[..., Any]:
        @wraps(steps_of)
        async def method(self: AsyncClient, /, *args: Any, **kwargs: Any) -> Any:
            return await self._carry_out(steps_of, *args, **kwargs)

        return method
