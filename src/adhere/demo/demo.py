"""The complete demo: its service, its people and its two trials."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from adhere.client import Client
from adhere.demo.player import Player
from adhere.demo.schedule import SITES
from adhere.demo.service_process import demo_service
from adhere.demo.trials import TRIALS


@dataclass(frozen=True)
class Person:
    """Somebody who can sign in: name, job title, role, and the pages they use."""

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

_LINK_MINUTES = 24 * 60


@dataclass(frozen=True)
class Demo:
    """A running service, its admin client, and the IDs of its people's tokens."""

    url: str
    admin: Client
    tokens: dict[Person, int]
    sites: dict[str, Client]

    def link(self, person: Person) -> str:
        """Return a new one-time link that signs a person in."""
        return self.url + self.admin.make_link(self.tokens[person], minutes=_LINK_MINUTES).path

    def create_trials(self, seed: int) -> list[Player]:
        """Create the two trials, and return players for their sites."""
        for trial in TRIALS:
            self.admin.create_trial(**trial.fields())
        return [Player(trial, seed, run, self.sites) for run, trial in enumerate(TRIALS)]


@contextmanager
def running_demo(port: int = 0) -> Iterator[Demo]:
    """Run a demo until the block ends, on a free port unless one is given."""
    with demo_service(port) as (url, admin_token), ExitStack() as clients:
        admin = clients.enter_context(Client(url, admin_token, tries=2))
        tokens = {site: admin.make_token("site", site, site=site).token for site in SITES}
        sites = {site: clients.enter_context(Client(url, token)) for site, token in tokens.items()}
        people = {one: admin.make_token(one.role, one.name, site=one.site).id for one in PEOPLE}
        yield Demo(url, admin, people, sites)
