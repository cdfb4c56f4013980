"""The client that blocks."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from adhere_client import calls
from adhere_client.connection import Connection, as_method
from adhere_client.files import replacing
from adhere_client.request import HttpResponse, Request, Result, Steps

Arguments = ParamSpec("Arguments")
Answered = TypeVar("Answered")


def _blocking(steps_of: Callable[Arguments, Steps[Answered]]) -> Callable[Concatenate[Client, Arguments], Answered]:
    """A call as a method that returns its answer."""

    @wraps(steps_of)
    def method(self: Client, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answered:
        with self._raising_own():
            steps = steps_of(*args, **kwargs)
            try:
                request = next(steps)
                while True:
                    request = steps.send(self._execute(request))
            except StopIteration as end:
                answer: Answered = end.value
                return answer

    return as_method(method, steps_of)


class Client(Connection):
    """The service at an address, for the holder of a token.

    ::

        with Client("https://trials.example.org", token) as client:
            recommendation = client.recommend("headache", "patient-17")
            client.report("headache", recommendation.id, actual=recommendation.arm, reward=1)

    A call whose answer is lost, or that is asked to wait, is repeated with longer and longer pauses, each logged by
    the logger `adhere_client`. Each request has an id, so that one that was executed although its answer was lost is
    not executed twice. Give a `request_id` if the call itself may be repeated, say after a crash of the caller. A
    service that this client has never reached fails at once.

    What the service refuses is raised as an `InputError` (`UnknownError`, `ConflictError`); everything else that goes
    wrong as a `ServiceError`. Several threads may share a client. `close()`, or the end of `with`, closes its
    connections; to end a trial, call `end_trial`.

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
        import httpcore  # when it is needed: importing this package stays quick

        super().__init__(url, token, timeout=timeout, tries=tries)
        self._pool = httpcore.ConnectionPool(**self._pool_options())
        weakref.finalize(self, self._pool.close)  # for those who neither call close() nor use `with`

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _execute(self, request: Request[Result]) -> Result:
        """Send a request until it is answered."""
        arguments, attempts = self._encode(request), self._attempts(request)
        while True:
            try:
                response = self._send(request, arguments)
            except self._failures as error:
                pause = attempts.pause_after_failure(error)
            else:
                waiting = attempts.pause_after(response)
                if waiting is None:
                    return self._answer(request, response)
                pause = waiting
            time.sleep(pause)

    def _send(self, request: Request[Any], arguments: dict[str, Any]) -> HttpResponse:
        with self._pool.stream(**arguments) as got:
            body = b""
            if request.into is not None and got.status < 300:
                with replacing(request.into) as file:
                    for part in got.iter_stream():
                        file.write(part)
            else:
                body = got.read()
            return self._respond(got.status, got.headers, body)

    create_trial = _blocking(calls.designs.create_trial)
    create_trial_from = _blocking(calls.designs.create_trial_from)
    check_design = _blocking(calls.designs.check_design)
    policies = _blocking(calls.designs.policies)
    start_simulation = _blocking(calls.designs.start_simulation)
    simulation = _blocking(calls.designs.simulation)
    simulations = _blocking(calls.designs.simulations)
    stop_simulation = _blocking(calls.designs.stop_simulation)
    simulation_report = _blocking(calls.designs.simulation_report)
    trials = _blocking(calls.trials.trials)
    list_trials = _blocking(calls.trials.list_trials)
    trial = _blocking(calls.trials.trial)
    recommend = _blocking(calls.recommendations.recommend)
    recommendation = _blocking(calls.recommendations.recommendation)
    report = _blocking(calls.recommendations.report)
    correct = _blocking(calls.recommendations.correct)
    withdraw = _blocking(calls.recommendations.withdraw)
    mark_in_error = _blocking(calls.recommendations.mark_in_error)
    pause = _blocking(calls.trials.pause)
    resume = _blocking(calls.trials.resume)
    end_trial = _blocking(calls.trials.end_trial)
    reveal = _blocking(calls.trials.reveal)
    unblind = _blocking(calls.recommendations.unblind)
    erase = _blocking(calls.recommendations.erase)
    sites = _blocking(calls.trials.sites)
    enrolment = _blocking(calls.trials.enrolment)
    waiting = _blocking(calls.recommendations.waiting)
    recommendations = _blocking(calls.recommendations.recommendations)
    alike = _blocking(calls.recommendations.alike)
    results = _blocking(calls.trials.results)
    looks = _blocking(calls.trials.looks)
    monitor = _blocking(calls.trials.monitor)
    analysis = _blocking(calls.trials.analysis)
    records = _blocking(calls.trials.records)
    derive_again = _blocking(calls.trials.derive_again)
    verify = _blocking(calls.trials.verify)
    accesses = _blocking(calls.trials.accesses)
    explore = _blocking(calls.designs.explore)
    export = _blocking(calls.trials.export)
    make_token = _blocking(calls.tokens.make_token)
    rotate_token = _blocking(calls.tokens.rotate_token)
    make_link = _blocking(calls.tokens.make_link)
    tokens = _blocking(calls.tokens.tokens)
    revoke_token = _blocking(calls.tokens.revoke_token)
