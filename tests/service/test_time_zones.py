"""Days of enrolment in the time zone of each site: two sites that are never on the same day."""

from __future__ import annotations

import html
import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from adhere.errors import InputError
from adhere.service.settings import ServiceSettings
from adhere.service.settings_sources import read_settings
from service.pages.person import sign_in
from service.serving import ARMS, in_file

EAST, WEST = "Pacific/Kiritimati", "Etc/GMT+12"  # 26 hours apart


def test_each_sites_days_are_those_of_its_own_time_zone(tmp_path: Path) -> None:
    settings = ServiceSettings(time_zones=(WEST, f"A={EAST}"))
    with in_file(tmp_path / "trials.db", settings) as service:
        service.client().create_trial("far apart", "uniform", ARMS)
        days: dict[str, set[str]] = {}
        for role, site, zone in (("site", "A", EAST), ("other", "B", WEST)):
            before = datetime.now(ZoneInfo(zone)).date()
            service.client(role).recommend("far apart", "S-1")
            days[site] = {before.isoformat(), datetime.now(ZoneInfo(zone)).date().isoformat()}
        assert days["A"].isdisjoint(days["B"])
        found = service.client("coordinator").enrolment("far apart")
        assert {site.site: site.time_zone for site in found.sites} == {"A": EAST, "B": WEST}
        for day in found.days:
            assert day.day in days[day.site]
        shown = sign_in(service, "coordinator").get("/app/trials/far%20apart/enrolment").body.decode()
        text = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", shown)).split())
        assert f"Days in the time zone of each site: B in {WEST}, all others in {EAST}." in text


def test_without_the_setting_days_are_in_utc(tmp_path: Path) -> None:
    with in_file(tmp_path / "trials.db") as service:
        service.client().create_trial("here", "uniform", ARMS)
        service.client("site").recommend("here", "S-1")
        assert "time_zone" not in service.send("GET", "/trials/here/enrolment").json["sites"][0]
        assert service.client().enrolment("here").sites[0].time_zone == "UTC"
        assert b"Days in UTC." in sign_in(service, "coordinator").get("/app/trials/here/enrolment").body


@pytest.mark.parametrize("given", ["Europe/Atlantis", "Oslo=CEST5", "Europe/Oslo,Europe/Rome", "../etc/passwd"])
def test_a_zone_that_does_not_exist_is_refused_at_the_start(given: str) -> None:
    with pytest.raises(InputError, match="time zones such as Europe/London"):
        read_settings({}, None, {"ADHERE_TIME_ZONES": given})
