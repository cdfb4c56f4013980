"""What is known of the follow-up of each trial, kept in memory and brought up to date when somebody asks."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

from adhere.service.jobs.jobs import Jobs
from adhere.site_zones import SiteZones
from adhere.store import ReadTransaction
from adhere.trial.log.follow_up import FollowUp

Result = TypeVar("Result")
_FEW_RECORDS = 1000  # some milliseconds of work


class FollowUps:
    """The follow-up of all trials. Many records are read in the process for jobs, a few where they are used."""

    def __init__(self, jobs: Jobs, zones: SiteZones) -> None:
        self._jobs, self.zones = jobs, zones
        self._known: dict[int, FollowUp] = {}
        self._reading: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._lock = threading.Lock()

    async def prepare(self, name: str, number: int, n_records: int) -> None:
        """Read a long log elsewhere, so that no thread of this process is busy with it."""
        async with self._reading[number]:
            known = self._known.get(number) or FollowUp(self.zones)
            if n_records - known.position > _FEW_RECORDS:
                with self._lock:  # a copy: others may bring it up to date meanwhile
                    known = copy.deepcopy(known)
                found = await self._jobs.call("follow-up", name, known, n_records=n_records)
                with self._lock:
                    self._known[number] = found

    def use(self, view: ReadTransaction, number: int, work: Callable[[FollowUp], Result]) -> Result:
        """Call a function with a trial's follow-up as of a view, or later."""
        with self._lock:
            known = self._known.setdefault(number, FollowUp(self.zones))
            known.catch_up(view, number)
            return work(known)
