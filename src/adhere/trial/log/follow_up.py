"""Count enrolment by site and day, and pending reports, without arms and outcomes.

The counts are kept in memory and updated from new records, so that a page need not read the whole log. Only a few
fields of each record are decoded: the first pass over 200,000 records takes less than a second.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from adhere.site_zones import SiteZones
from adhere.store import ReadTransaction

TAKEN, OUTCOME, LOST, IN_ERROR = 1, 2, 4, 8  # the known parts of a recommendation, as bits
_COMPLETE = TAKEN | OUTCOME
_ENDED = LOST | IN_ERROR
_RETRACTED = {"actual": TAKEN, "reward": OUTCOME, "withdrawal": LOST}
_KEY = 8  # number of bytes stored of each subject's key: enough to find candidates
_AT_ONCE = 2000
_NOT_BY_A_SITE = frozenset({"imputed", "update-refused", "unblinded"})


class _Said(msgspec.Struct, gc=False):
    """The fields of a record that are counted."""

    event: str
    at: datetime
    recommendation_index: int | None = None
    subject: str = ""
    site: str = ""
    actual: int | None = None
    reward: float | None = None
    retract: tuple[str, ...] = ()


_decode = msgspec.json.Decoder(_Said).decode


class SiteCounts:
    """The counts of one site."""

    def __init__(self) -> None:
        self.days: Counter[str] = Counter()  # recommendations by date, in the site's time zone
        self.known: Counter[int] = Counter()  # recommendations by their bits of known parts
        self.last_activity = datetime.min.replace(tzinfo=UTC)


class FollowUp:
    """The recommendations of a trial up to a record: the site and time of each, and which parts were reported."""

    def __init__(self, zones: SiteZones | None = None) -> None:
        self._zones = zones or SiteZones()
        self.position, self._hash = 0, b""
        self.sites: list[str] = []
        self.counts: list[SiteCounts] = []
        self._site_of, self._at = array("i"), array("d")
        self._keys, self._known = bytearray(), bytearray()
        self._pending: dict[int, None] = {}

    def catch_up(self, view: ReadTransaction, trial: int) -> None:
        """Read the new records. If the log is not the same as before, for example after a restore, read all of it
        again.
        """
        if view.head(trial).position < self.position:  # a view opened before another one that was already read
            return
        last = view.records(trial, self.position - 1, 1) if self.position else []
        if self.position and [(one.position, one.hash) for one in last] != [(self.position, self._hash)]:
            self.__init__(self._zones)  # type: ignore[misc]
        while some := view.records(trial, self.position, _AT_ONCE):
            for record in some:
                self._follow(_decode(record.body))
            self.position, self._hash = some[-1].position, some[-1].hash

    def _follow(self, said: _Said) -> None:
        number = said.recommendation_index
        if number is None:
            return
        if said.event == "recommended":
            self._enrol(said)
        site = self.counts[self._site_of[number]]
        if said.event not in _NOT_BY_A_SITE and said.at > site.last_activity:
            site.last_activity = said.at
        before = self._known[number]
        after = _known_after(before, said)
        if after != before:
            self._known[number] = after
            site.known[before] -= 1
            site.known[after] += 1
            if is_pending(after):
                self._pending[number] = None
            else:
                self._pending.pop(number, None)

    def _enrol(self, said: _Said) -> None:
        if said.site not in self.sites:
            self.sites.append(said.site)
            self.counts.append(SiteCounts())
        index = self.sites.index(said.site)
        number = len(self._known)
        self._site_of.append(index)
        self._at.append(said.at.timestamp())
        self._keys += bytes.fromhex(said.subject[: 2 * _KEY])
        self._known.append(0)
        self._pending[number] = None
        counts = self.counts[index]
        counts.days[self._zones.day(said.site, said.at).isoformat()] += 1
        counts.known[0] += 1

    @property
    def n_recommendations(self) -> int:
        """The number of recommendations."""
        return len(self._known)

    def pending(self, site: str | None = None) -> list[int]:
        """Return the recommendations that await a report, of one site or of all, oldest first."""
        return sorted(number for number in self._pending if site in (None, self.sites[self._site_of[number]]))

    def known(self, number: int) -> int:
        """Return the known parts of a recommendation, as bits."""
        return self._known[number]

    def site(self, number: int) -> str:
        """Return the site of a recommendation."""
        return self.sites[self._site_of[number]]

    def at(self, number: int) -> datetime:
        """Return the time at which a recommendation was made."""
        return datetime.fromtimestamp(self._at[number], UTC)

    def of_subject(self, key: str) -> Iterable[int]:
        """Yield the recommendations that may belong to a subject's key. Only the beginning of the key is compared."""
        wanted, at = bytes.fromhex(key[: 2 * _KEY]), -1
        while (at := self._keys.find(wanted, at + 1)) >= 0:
            if at % _KEY == 0:
                yield at // _KEY


def is_pending(known: int) -> bool:
    """Return whether a report is still expected."""
    return not known & _ENDED and known & _COMPLETE != _COMPLETE


def is_complete(known: int) -> bool:
    """Return whether everything is reported. Lost recommendations and entry errors do not count as complete."""
    return known == _COMPLETE


def missing(known: int) -> tuple[str, ...]:
    """Return the parts that are not reported yet, in words."""
    parts = ((TAKEN, "what was taken"), (OUTCOME, "the outcome"))
    return tuple(words for part, words in parts if is_pending(known) and not known & part)


def _known_after(known: int, said: _Said) -> int:
    """Return the known parts of a recommendation after a record. Imputed values do not count as reported."""
    if said.event in ("reported", "corrected"):
        if said.actual is not None:
            known |= TAKEN
        if said.reward is not None:
            known |= OUTCOME
        for name in said.retract:
            known &= ~_RETRACTED[name]
    elif said.event == "withdrawn":
        known |= LOST
    elif said.event == "entered-in-error":
        known = IN_ERROR
    return known
