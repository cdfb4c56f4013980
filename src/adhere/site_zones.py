"""Time zones of sites, which determine the sites' days."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

DEFAULT = "UTC"


class SiteZones:
    """The time zone of each site: "Oslo=Europe/Oslo" for one site, "Europe/London" for all others, UTC by default.

    >>> zones = SiteZones(["Europe/London", "Oslo=Europe/Oslo"])
    >>> zones.name("Oslo"), zones.name("Leeds")
    ('Europe/Oslo', 'Europe/London')
    >>> zones.day("Oslo", datetime(2026, 3, 1, 23, 30, tzinfo=UTC))
    datetime.date(2026, 3, 2)
    """

    def __init__(self, texts: Sequence[str] = ()) -> None:
        pairs = [text.rpartition("=") for text in texts]
        self._names = {site.strip(): name.strip() for site, _, name in pairs}
        self._zones = {name: UTC if name == DEFAULT else ZoneInfo(name) for name in {DEFAULT, *self._names.values()}}

    def name(self, site: str) -> str:
        """Return the name of a site's time zone."""
        return self._names.get(site) or self._names.get("", DEFAULT)

    def day(self, site: str, at: datetime) -> date:
        """Return the day at a site at a given time."""
        return at.astimezone(self._zones[self.name(site)]).date()


def are_time_zones(texts: Sequence[str]) -> bool:
    """Return whether every text is a time zone that this machine knows, or one for a site.

    >>> are_time_zones(["Europe/London", "Oslo=Europe/Oslo"]), are_time_zones(["GMT+25"]), are_time_zones(["a", "b"])
    (True, False, False)
    """
    sites = [text.rpartition("=")[0].strip() for text in texts]
    try:
        SiteZones(texts)
    except (ValueError, OSError, LookupError):  # unknown zone, or no time zone data
        return False
    return len(set(sites)) == len(sites)
