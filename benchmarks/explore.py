"""Explore, measured: how soon a slider that was let go is painted, and what live trials notice of it.

``python -m benchmarks.explore`` (about a minute; needs Chromium): 40 redraws of 1,000 runs × 1,000 patients of three
policies, warm; then recommendations one after the other beside an Explore that is never idle, against none, in nine
alternating pairs.
"""

from __future__ import annotations

import http.client
import itertools
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.cpu.measuring import Spread
from benchmarks.pages import times
from benchmarks.service.subjects import prepare, serving_adhere

REDRAWS, PAIRS, RECOMMENDATIONS = 40, 9, 200
BAR_MS, BAR_RATIO = 300.0, 1.2
_MOVES = ("compliers", "always_takers_treatment", "defiers", "compliers_control")
# From the event `change` to the second frame after the charts were updated: by then they are painted.
_MOVE = """async ([name, value]) => {
  const form = document.getElementById("explore"), slider = form.querySelector(`input[data-for="${name}"]`);
  slider.value = value;
  slider.dispatchEvent(new Event("input", {bubbles: true}));
  const painted = new Promise((done) => form.addEventListener(
    "redrawn", () => requestAnimationFrame(() => requestAnimationFrame(done)), {once: true}));
  const start = performance.now();
  slider.dispatchEvent(new Event("change", {bubbles: true}));
  await painted;
  return performance.now() - start;
}"""


def redraws(url: str, token: str) -> list[float]:
    """Milliseconds of each redraw, after two that are not counted."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{url}/app/sign-in")
        page.fill("input[name=token]", token)
        page.click("main button")
        page.goto(f"{url}/app/explore")
        page.wait_for_selector("form[data-ready=yes] figure[data-drawn]", timeout=120_000)
        found = [page.evaluate(_MOVE, [name, value]) for name, value in _settings(REDRAWS + 2)]
        browser.close()
    return found[2:]


def _settings(number: int) -> list[tuple[str, str]]:
    """Settings that were not simulated before."""
    return [(_MOVES[i % len(_MOVES)], f"{0.08 + (i * 37 % 80) / 100:.2f}") for i in range(number)]


class Api:
    """One connection to the service."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"}

    def send(self, method: str, path: str, body: str | None = None) -> None:
        """Send a request and read its answer, whatever is in it."""
        headers = {**self._headers, "Idempotency-Key": str(uuid.uuid4()), "Content-Type": "application/json"}
        self._connection.request(method, path, body, headers if body else self._headers)
        reply = self._connection.getresponse()
        reply.read()
        assert reply.status < 300, (path, reply.status)


def recommendations(api: Api) -> float:
    """The median milliseconds of a recommendation."""
    taken = []
    for _ in range(RECOMMENDATIONS):
        start = time.perf_counter()
        api.send("POST", "/trials/t/recommendations", f'{{"subject": "{uuid.uuid4()}"}}')
        taken.append(1e3 * (time.perf_counter() - start))
    return median(taken)


@contextmanager
def exploring(port: int, token: str, seeds: Iterator[int]) -> Iterator[None]:
    """An Explore that is never idle for as long as the block lasts."""
    ended = threading.Event()

    def explore() -> None:
        api = Api(port, token)
        while not ended.is_set():
            api.send("GET", f"/explorations?seed={next(seeds)}")

    thread = threading.Thread(target=explore)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def ratios(port: int, token: str) -> list[float]:
    """How much longer a recommendation takes beside a busy Explore, pair by pair."""
    api, seeds, found = Api(port, token), itertools.count(1), []
    api.send("GET", "/explorations")
    recommendations(api)
    for pair in range(PAIRS):
        both: dict[bool, Any] = {}
        for busy in (False, True) if pair % 2 else (True, False):
            if busy:
                with exploring(port, token, seeds):
                    both[busy] = recommendations(api)
            else:
                both[busy] = recommendations(api)
        found.append(both[True] / both[False])
        print(f"pair {pair + 1}: {both[False]:.2f} ms alone, {both[True]:.2f} ms beside Explore", flush=True)
    return found


def main() -> None:
    """Measure both, and say whether the bars are met."""
    with tempfile.TemporaryDirectory(prefix="adhere-bench-explore-") as folder:
        file = Path(folder) / "trials.db"
        token = prepare(file, {"t": "thompson/actual"})
        with serving_adhere(file) as server:
            painted = redraws(f"http://127.0.0.1:{server.port}", token)
            within = sum(one <= BAR_MS for one in painted)
            spread = f"median {median(painted):.0f} ms, longest {max(painted):.0f} ms"
            print(f"redraws: {spread}; {within} of {len(painted)} within {BAR_MS:.0f} ms", flush=True)
            beside = times(Spread.of(ratios(server.port, token)))
            print(f"recommendations beside a busy Explore: {beside}, asked ≤ {BAR_RATIO}×")


if __name__ == "__main__":
    main()
