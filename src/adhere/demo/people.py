"""The people of the demo, each with a token, and the sites whose requests are played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from adhere.client import Client
from adhere.demo.patients import SITES


@dataclass(frozen=True)
class Person:
    """Somebody who signs in: their name, what they are called at work, and what they come for."""

    name: str
    title: str
    role: str
    sees: str
    site: str | None = None


STATISTICIAN: Final = Person("Ines", "statistician", "statistician", "Monitor and Audit")
NURSE: Final = Person("Ruth", f"nurse in {SITES[0]}", "site", "the site's page, made for a phone", site=SITES[0])
COORDINATOR: Final = Person("Tom", "coordinator", "coordinator", "Enrolment of all sites")
ADMIN: Final = Person("Ada", "admin", "admin", "everything")
PEOPLE: Final = (STATISTICIAN, NURSE, COORDINATOR, ADMIN)


def token_of(admin: Client, person: Person) -> int:
    """The number of a new token for a person."""
    return admin.make_token(person.role, person.name, site=person.site).id


def site_clients(url: str, admin: Client) -> dict[str, Client]:
    """A client for each site, by its name."""
    return {site: Client(url, admin.make_token("site", site, site=site).token) for site in SITES}
