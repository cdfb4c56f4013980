"""The whole demo: its service, its people and its two trials."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from adhere.client import Client
from adhere.demo.people import PEOPLE, Person, site_clients, token_of
from adhere.demo.player import Player
from adhere.demo.service_process import demo_service
from adhere.demo.trials import TRIALS

_LINK_MINUTES = 24 * 60


@dataclass(frozen=True)
class Demo:
    """A service that runs, its admin, and the numbers of its people's tokens."""

    url: str
    admin: Client
    tokens: dict[Person, int]
    sites: dict[str, Client]

    def link(self, person: Person) -> str:
        """A new link that signs a person in, once."""
        return self.url + self.admin.make_link(self.tokens[person], minutes=_LINK_MINUTES).path

    def create_trials(self, seed: int) -> list[Player]:
        """Create the two trials, whose sites are then ready to be played."""
        for trial in TRIALS:
            self.admin.create_trial(**trial.fields())
        return [Player(trial, seed, run, self.sites) for run, trial in enumerate(TRIALS)]


@contextmanager
def running_demo(port: int = 0) -> Iterator[Demo]:
    """A demo that runs until the block ends, on a free port unless one is given."""
    with demo_service(port) as service, ExitStack() as clients:
        admin = clients.enter_context(Client(service.url, service.admin_token, tries=2))
        sites = site_clients(service.url, admin)
        for site in sites.values():
            clients.enter_context(site)
        yield Demo(service.url, admin, {person: token_of(admin, person) for person in PEOPLE}, sites)
