"""Players send the requests of the trials' sites through the HTTP API."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from operator import itemgetter
from typing import Literal

from adhere.client import Client, ConflictError
from adhere.demo.schedule import Action, Call, schedule
from adhere.demo.trials import DemoTrial


class Player:
    """Player that sends the requests of one trial's sites.

    `played` counts their requests by call. A request is counted as `refused` if somebody on the pages was faster, or
    paused or closed the trial.
    """

    def __init__(self, trial: DemoTrial, seed: int, run: int, clients: Mapping[str, Client]) -> None:
        self.trial, self.played = trial, Counter[Call | Literal["refused"]]()
        self.actions = schedule(trial, seed, run)
        self._clients, self._arms = clients, trial.arms
        self._recommended: dict[str, tuple[str, int]] = {}  # the recommendation ID and the arm of each subject

    def perform(self, action: Action) -> None:
        """Send an action's request, and send it again if it is to be sent twice."""
        if action.call != "recommend" and action.patient.subject not in self._recommended:
            return  # the recommendation was refused
        try:
            for _ in range(2 if action.twice else 1):
                self._send(action, self._clients[action.patient.site])
        except ConflictError:
            self.played["refused"] += 1
        else:
            self.played[action.call] += 1

    def _send(self, action: Action, site: Client) -> None:
        subject, trial = action.patient.subject, self.trial.name
        if action.call == "recommend":
            made = site.recommend(trial, subject, **action.said[0], request_id=action.key)
            assert made.arm is not None  # the demo's trials are not blinded
            self._recommended[subject] = made.id, self._arms.index(made.arm)
        else:
            recommendation, arm = self._recommended[subject]
            getattr(site, action.call)(trial, recommendation, **action.said[arm], request_id=action.key)


@dataclass(frozen=True)
class Pace:
    """How fast trials are played: the first `head_start` patients at once, then `speed` a second, up to
    `patients`.
    """

    head_start: int = 500
    speed: float = 2.0
    patients: int | None = None


def play(players: Sequence[Player], pace: Pace) -> Iterator[None]:
    """Play all trials together, and yield after each request."""
    began: float | None = None
    for due, _, player, action in merge(*(_turns(player, pace) for player in players), key=itemgetter(0, 1)):
        if due > 0.0:
            began = time.monotonic() if began is None else began
            time.sleep(max(0.0, began + due - time.monotonic()))
        player.perform(action)
        yield


def _turns(player: Player, pace: Pace) -> Iterator[tuple[float, float, Player, Action]]:
    """Yield each action of a trial, with the seconds after the head start when it is due, and its scheduled time."""
    arrivals, ahead = 0, 0.0
    for action in player.actions:
        arrivals += action.call == "recommend"
        if pace.patients is not None and arrivals > pace.patients:
            return
        if arrivals <= pace.head_start:
            ahead = action.time
        yield (action.time - ahead) / pace.speed, action.time, player, action
