"""Metrics for Prometheus. Labels are routes, methods, numbers, and trials with looks, but never sites or subjects.

Only statisticians and admins may know whether a look recommends to stop. Metrics that are open to everybody,
including sites, therefore contain nothing about looks.
"""

import logging
import os
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client import values as prometheus_values
from prometheus_client.multiprocess import MultiProcessCollector

from adhere.looks.judge import GO_ON
from adhere.service.temporary_folders import kept
from adhere.trial.domain.events import AnyEvent, Closed, Looked, Recommended, UpdateRefused

MEDIA_TYPE = CONTENT_TYPE_LATEST
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # where several processes share their metrics
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
log = logging.getLogger("adhere.service")
_MAX_READS = 5  # attempts to read files that other processes are making or deleting
_SECONDS_BETWEEN_READS = 0.01
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The metrics of one process."""

    def __init__(self, *, are_open: bool = False) -> None:
        self._are_open = are_open
        if FOLDER_VARIABLE in os.environ:
            prometheus_values.ValueClass = prometheus_values.MultiProcessValue(_Files())  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        counter, histogram = partial(Counter, registry=self._registry), partial(Histogram, registry=self._registry)
        self._requests = counter("adhere_http_requests", "Requests answered", ("route", "method", "status"))
        self._seconds = histogram(
            "adhere_http_request_seconds", "From a request to its answer", ("route", "method"), buckets=_SECONDS
        )
        self.refusals = counter("adhere_refused_requests", "Requests refused, by kind of problem", ("kind",))
        self._commits = counter("adhere_commits", "Transactions with requests in them")
        self._sizes = histogram("adhere_commit_requests", "Requests in a transaction", buckets=_SIZES)
        self._commit_seconds = histogram("adhere_commit_seconds", "From taking a batch to its commit")
        self.monitor_seconds = histogram("adhere_monitor_seconds", "Computing a trial's monitor", buckets=_SECONDS)
        self.failed_commits = counter("adhere_failed_commits", "Transactions that could not be written")
        self._fallbacks = counter("adhere_fallbacks", "Arms drawn uniformly because the policy failed")
        self._refused_updates = counter("adhere_refused_updates", "Updates skipped because the policy failed at them")
        self.verify_faults = counter("adhere_verify_faults", "Logs that scheduled verification found changed")
        self._verified_at: Gauge | None = None  # made once something is verified: 0 would raise an alert
        self._looks = counter("adhere_looks", "Looks made since the service was started", ("trial",))
        self._stops = Gauge(
            "adhere_stop_recommended",
            "1: a look recommends to stop the trial, and no person has ended it yet",
            ("trial",),
            registry=self._registry,
            multiprocess_mode="mostrecent",
        )
        self._stopping: set[str] = set()  # trials that ever had a recommended stop; no others are named
        self._children: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request by its route's template."""
        key = (route, method, status)
        children = self._children.get(key)
        if children is None:
            children = self._requests.labels(route, method, str(status)), self._seconds.labels(route, method)
            self._children[key] = children
        children[0].inc()
        children[1].observe(seconds)

    def count_commit(self, n_requests: int, seconds: float) -> None:
        """Count a transaction."""
        self._commits.inc()
        self._sizes.observe(n_requests)
        self._commit_seconds.observe(seconds)

    def count_events(self, trial: str, events: Sequence[AnyEvent]) -> None:
        """Count the fallbacks, refused updates and looks among a trial's events in one transaction."""
        for event in events:
            if isinstance(event, Recommended) and event.fallback:
                self._fallbacks.inc()
            elif isinstance(event, UpdateRefused):
                self._refused_updates.inc()
            elif isinstance(event, Looked):
                self._count_look(trial, event)
            elif isinstance(event, Closed) and trial in self._stopping:
                self.set_stop(trial, is_recommended=False)

    def _count_look(self, trial: str, event: Looked) -> None:
        if not self._are_open:
            self._looks.labels(trial).inc()
        if event.decision != GO_ON:
            # The reason is left out, because with two arms it would reveal the better arm.
            log.warning("trial %r: look %d recommends to stop; a person decides", trial, event.look + 1)
            self.set_stop(trial, is_recommended=True)

    def set_stop(self, trial: str, *, is_recommended: bool) -> None:
        """Record whether a stop is recommended that nobody has decided about yet."""
        self._stopping.add(trial)
        if not self._are_open:
            self._stops.labels(trial).set(is_recommended)

    def set_verified(self, at: float) -> None:
        """Record the oldest of the times at which the trials were last found intact."""
        if self._verified_at is None:
            self._verified_at = Gauge(
                "adhere_verified_timestamp_seconds",
                "When the trial verified longest ago was last found intact; 0: one never was",
                registry=self._registry,
                multiprocess_mode="max",
            )
        self._verified_at.set(at)

    def text(self) -> bytes:
        """Return all metrics as text. If several processes share a folder, their metrics are combined."""
        if FOLDER_VARIABLE not in os.environ:
            return generate_latest(self._registry)
        self._commits.inc(0)  # creates missing files again
        shared = CollectorRegistry()
        MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
        for _ in range(_MAX_READS - 1):
            # Another process may just have made an empty file, or a cleaner may be deleting a file.
            with suppress(struct.error, FileNotFoundError):
                return generate_latest(shared)
            time.sleep(_SECONDS_BETWEEN_READS)
        return generate_latest(shared)


class _Files:
    """The name of this process's files in the shared folder. prometheus_client asks for it at each change.

    A new name makes prometheus_client begin new files. The name changes when a cleaner of temporary files has deleted
    the old files, because counts in deleted files would be lost. The counts then start at 0, like after a restart.
    """

    def __init__(self) -> None:
        self._n_made, self._mark = 0, Path(os.environ[FOLDER_VARIABLE], f"{os.getpid()}-0")

    def __call__(self) -> str:
        if not self._mark.exists():
            with suppress(OSError):  # for example a full disk: the old files are used until the next change
                mark = Path(kept(str(self._mark.parent)), f"{os.getpid()}-{self._n_made + 1}")
                mark.touch()  # never modified, so that a cleaner deletes it no later than the files
                self._n_made, self._mark = self._n_made + 1, mark
        return self._mark.name
