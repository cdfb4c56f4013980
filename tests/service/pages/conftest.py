from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from report.browser import executable
from service.serving import Service, in_file

from .populated import populate
from .visitor import Visitor, visiting


@pytest.fixture(scope="package", autouse=True)
def quick_changes() -> Iterator[None]:
    """Tell open pages of changes as soon as there are some: how seldom they are told is tested without a browser."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("adhere.service.changes.EVERY", 0.1)
        yield


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """One Chromium for all tests of pages; not for longer, as Playwright keeps the event loop of its thread."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable())
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def populated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose pages have something to show; tests of pages read it and do not write."""
    with in_file(tmp_path_factory.mktemp("pages") / "trials.db") as running:
        populate(running)
        yield running


@pytest.fixture(scope="package")
def as_role(browser: Any, populated: Service) -> Iterator[Callable[[str | None], Visitor]]:
    """The browser of a role, one for all tests; None is nobody."""
    opened: dict[str | None, Visitor] = {}
    with ExitStack() as stack:

        def visitor(role: str | None) -> Visitor:
            if role not in opened:
                opened[role] = stack.enter_context(visiting(browser, populated, role))
            opened[role].faults.clear()
            return opened[role]

        yield visitor
