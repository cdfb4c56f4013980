"""Where requests are taken in: many at a time, each trial in turn, all in one transaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from adhere.errors import ConflictError, InputError, UnknownError, nearest
from adhere.randomness import MAX_DECISIONS
from adhere.store.contract import Found, Head, Reading, Store, Writing
from adhere.trial.chain import START, link
from adhere.trial.checks import LONGEST_NAME, checked_text
from adhere.trial.design import Design
from adhere.trial.events import Created, decode, encode, record_of
from adhere.trial.fold import Standing, encode_standing
from adhere.trial.handling import SOFTWARE, handle
from adhere.trial.requests import Answer, AnyRequest, Erase, Receipt, Recommend, Report, Request
from adhere.trial.sitting import LiveTrial, Sitting, pseudonym_of


def utc_now() -> datetime:
    """The time, by this machine's clock."""
    return datetime.now(UTC)


class Desk:
    """Live trials in a store.

    `handle` answers requests only once what they changed is durable. It may be called from several threads, and, if
    the store allows, from several processes; the store serialises what they write to one trial.
    """

    def __init__(self, store: Store, now: Callable[[], datetime] = utc_now) -> None:
        self.store = store
        self._now = now
        self._trials: dict[str, LiveTrial] = {}
        self._turn = threading.Lock()

    def create(self, design: Design, *, by: str = "") -> Receipt:
        """Begin a trial. The same design again is acknowledged; another one under the same name is refused."""
        with self._turn, self.store.writing() as writing:
            if design.name in writing.trials():
                if self._live(writing, design.name).design != design:
                    raise ConflictError("name", design.name, "a name that no other trial has")
            else:
                begin(writing, design, self._now(), by)
        return Receipt(1)

    def handle(self, requests: Sequence[AnyRequest]) -> list[Answer | InputError]:
        """An answer to each request, or why it was refused, in their order.

        Raises a `StoreError` if nothing could be written, in which case nothing was.
        """
        answers: list[Answer | InputError] = [InputError("request", None, "an answer")] * len(requests)
        by_trial: dict[str, list[int]] = {}
        for place, request in enumerate(requests):
            try:
                if request.request:
                    checked_text("request id", request.request, 2 * LONGEST_NAME + 1)  # a site's name and its own id
                by_trial.setdefault(request.trial, []).append(place)
            except InputError as error:
                answers[place] = error
        with self._turn, self.store.writing() as writing:
            known: list[tuple[LiveTrial, list[int]]] = []
            for name, places in by_trial.items():
                try:
                    known.append((self._live(writing, name), places))
                except InputError as error:
                    for place in places:
                        answers[place] = error
            # Always in the same order, so that no two processes wait for each other.
            known.sort(key=lambda item: item[0].number)
            taken = [_take(writing, live, [requests[place] for place in places]) for live, places in known]
            for (live, places), fetched in zip(known, taken, strict=True):
                sitting = Sitting(writing, live, self._now, fetched())
                for place in places:
                    try:
                        answers[place] = handle(sitting, requests[place])
                    except InputError as error:
                        answers[place] = error
                sitting.finish()
        return answers

    def is_quick(self, request: AnyRequest) -> bool:
        """Whether a request surely takes no longer than a commit: nobody to wait for, nothing to load or to fold."""
        live = self._trials.get(request.trial)
        if live is None or self.store.shared or not live.engine.is_loaded:
            return False
        return isinstance(request, Recommend) or (isinstance(request, Report) and live.design.impute is None)

    def ask(self, request: AnyRequest) -> Answer:
        """The answer to one request; raises if it was refused."""
        (answer,) = self.handle([request])
        if isinstance(answer, InputError):
            raise answer
        return answer

    def trial(self, name: str) -> LiveTrial:
        """A trial by its name."""
        if name in self._trials:
            return self._trials[name]
        with self.store.reading() as view:
            return self._live(view, name)

    def _live(self, view: Reading, name: str) -> LiveTrial:
        if name not in self._trials:
            numbers = view.trials()
            if name not in numbers:
                raise UnknownError("trial", name, nearest(name, numbers) if numbers else "a trial; there is none yet")
            created = decode(view.records(numbers[name], 0, 1)[0].body)
            assert isinstance(created, Created)
            self._trials[name] = LiveTrial(numbers[name], created.design, created.design.engine())
        return self._trials[name]


def begin(writing: Writing, design: Design, at: datetime, by: str) -> LiveTrial:
    """Enter a trial and the first record of its log."""
    engine = design.engine()
    event = Created(position=1, at=at, by=by, design=design, law=engine.law, software=SOFTWARE)
    body = encode(event)
    record = record_of(event, body, link(START, body))
    head = Head(1, record.hash, encode_standing(Standing(engine.first_state.tobytes(), engine.law)))
    number = writing.make_trial(design.name, head)
    writing.append(number, [record], head)
    return LiveTrial(number, design, engine)


def _take(writing: Writing, live: LiveTrial, requests: Sequence[Request]) -> Callable[[], tuple[Head, Found]]:
    """Take a trial, and look up all that the requests will need to know of it."""
    ids = {request.request for request in requests if request.request}
    decisions, pseudonyms = set(), set()
    for request in requests:
        decision = getattr(request, "recommendation", None)
        if isinstance(decision, int) and 0 <= decision < MAX_DECISIONS:
            decisions.add(decision)
        if isinstance(request, Recommend | Erase):
            try:
                pseudonyms.add(pseudonym_of(request))
            except InputError:  # which its handler will say
                continue
    return writing.take(live.number, sorted(ids), sorted(decisions), sorted(pseudonyms))
