"""The people of the demo, each with a token, and the sites whose requests are played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from adhere.client import Client
from adhere.demo.patients import SITES


@dataclass(frozen=True)
class Person:
    """Somebody who signs in, and what their role lets them look at."""

    title: str
    role: str
    sees: str
    site: str | None = None


STATISTICIAN: Final = Person("statistician", "statistician", "Monitor and Audit")
PEOPLE: Final = (
    STATISTICIAN,
    Person(f"nurse in {SITES[0]}", "site", "the site's page, made for a phone", site=SITES[0]),
    Person("coordinator", "coordinator", "Enrolment of all sites"),
    Person("admin", "admin", "everything"),
)


def token_of(admin: Client, person: Person) -> int:
    """The number of a new token for a person."""
    return admin.make_token(person.role, f"{person.title} of the demo", site=person.site).id


def site_clients(url: str, admin: Client) -> dict[str, Client]:
    """A client for each site, by its name."""
    return {site: Client(url, admin.make_token("site", f"player, {site}", site=site).token) for site in SITES}
