"""A second tap does nothing: not on the page that the first one leads to, nor on what has moved under the finger."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from adhere.service.settings import ServiceSettings
from adhere.trial.domain.events import decode
from adhere.trial.domain.log_records import walk
from service.serving import Service, in_file

from .visitor import Visitor, visiting

WIDTHS = (360, 390, 430)
GAPS = (0.12, 0.3, 0.5, 0.7, 0.9)  # seconds from the first tap to each further one
DELAY = 1.25  # of this service; longer than the default, since taps may come late from a busy machine
NEAR = 20  # a second tap is at most this far from the first, in pixels
BLINDED = {
    "policy": "burn-in(uniform, patients=4)",
    "blinded": True,
    "strata": ("under 60", "60 and over"),
    "n_patients": 40,
}
WORDS = {"reward_values": (0, 1), "outcome_words": {"alive": 1, "died": 0}}
READY = """() => !document.documentElement.classList.contains('settling')
  && ![...document.querySelectorAll('button.settling')].some(one => one.checkVisibility())"""
SENDING = "main form[method=post] button:enabled:not([data-confirm])"
BOXES = """buttons => buttons.filter(one => one.checkVisibility()).map(one => {
  const {left, right, top, bottom} = one.getBoundingClientRect();
  return [one.form.getAttribute('action') + ' ' + one.textContent.trim(), left, right, top, bottom];
})"""


def nothing(service: Service, trial: str, made: str) -> None:
    pass


def reported(service: Service, trial: str, made: str) -> None:
    service.client("site").report(trial, made, took_nothing=True, reward=1)


def lost(service: Service, trial: str, made: str) -> None:
    service.client("site").withdraw(trial, made, "moved away")


def paused(service: Service, trial: str, made: str) -> None:
    service.client().pause(trial, "full")


def with_token(service: Service, trial: str, made: str) -> None:
    service.client().make_token("coordinator", "to be revoked")


@dataclass(frozen=True)
class Button:
    """A button that changes something: how to come to it, and the records that one tap adds to the log."""

    selector: str
    events: tuple[str, ...] = ()
    path: str = "/app/trials/{trial}/recommendations/{made}"
    role: str = "site"
    before: Callable[[Service, str, str], None] = nothing
    design: Mapping[str, Any] = field(default_factory=lambda: BLINDED)
    opened: str = ""  # the text of what must be opened first
    typed: Mapping[str, str] = field(default_factory=dict)
    ticked: str = ""
    first: str = ""  # a button to tap once before


SITE, OVERVIEW, NEW = "/app/trials/{trial}/site", "/app/trials/{trial}", "/app/new-trial"
TRIAL = {"#name": "{trial}-2", "#arms": "walk\naspirin", "#n_patients": "100"}
ADMIN: dict[str, Any] = {"role": "admin", "design": {}}
ACCESS: dict[str, Any] = {**ADMIN, "typed": {"#label": "somebody"}, "ticked": "input[value=coordinator]"}
BUTTONS = {
    "Recommend": Button(
        "text=Recommend", ("recommended",), SITE, typed={"#subject": "S-2"}, ticked="input[value='under 60']"
    ),
    "someone new": Button(
        "text=is someone new",
        ("recommended",),
        SITE,
        typed={"#subject": "S-O1"},
        ticked="input[value='under 60']",
        first="text=Recommend",
    ),
    "this kit": Button("text=This kit", ("reported",)),
    "nothing": Button("text=Nothing", ("reported",)),
    "another kit": Button("text=Record", ("reported",), opened="Another kit", typed={"#actual": "{kit}"}),
    "something else": Button("text=Record", ("reported",), opened="Something else", typed={"#took-other": "tea"}),
    "the arm recommended": Button("button.big >> nth=0", ("reported",), design={}),
    "another arm": Button("button.big >> nth=1", ("reported",), design={}),
    "a word": Button("text=alive", ("reported",), design=WORDS),
    "another word": Button("text=died", ("reported",), design=WORDS),
    "a value": Button("text=Record", ("reported",), design={}, opened="Another value", typed={"#reward": "0.5"}),
    "correct": Button(
        "text=/^Correct$/",
        ("corrected",),
        before=reported,
        opened="Correct a report",
        typed={"#correct-outcome": "Outcome 0", "#reason-correction": "a slip"},
    ),
    "lost": Button(
        "text=Mark as lost", ("withdrawn",), opened="Lost to follow-up", typed={"#reason-withdrawal": "moved"}
    ),
    "return": Button(
        "text=Await reports again",
        ("corrected",),
        before=lost,
        opened="Not lost to follow-up",
        typed={"#reason-return": "came again"},
    ),
    "in error": Button(
        "text=Mark as entered in error",
        ("entered-in-error",),
        opened="Entered in error",
        typed={"#reason-error": "a slip"},
    ),
    "unblind": Button(
        "text=/^Unblind$/",
        ("unblinded",),
        opened="Emergency unblinding",
        typed={"#kit": "{kit}", "#reason-unblinding": "ill"},
    ),
    "pause": Button("text=/^Pause$/ >> nth=1", ("paused",), OVERVIEW, typed={"#reason-pause": "full"}, **ADMIN),
    "resume": Button(
        "text=/^Resume$/ >> nth=1", ("resumed",), OVERVIEW, before=paused, typed={"#reason-resume": "places"}, **ADMIN
    ),
    "close": Button(
        "text=/^Close$/ >> nth=1", ("closed",), OVERVIEW, before=lost, typed={"#reason-close": "over"}, **ADMIN
    ),
    "check a design": Button("text=Check the design", (), NEW, typed=TRIAL, ticked="input[value=uniform]", **ADMIN),
    "create": Button(
        "text=Create trial",
        (),
        NEW,
        typed=TRIAL,
        ticked="input[value=uniform]",
        first="text=Check the design",
        **ADMIN,
    ),
    "simulate": Button(
        "text=Simulate", (), NEW, typed=TRIAL, ticked="input[value=uniform]", first="text=Check the design", **ADMIN
    ),
    "make a link": Button("button[value=link]", (), "/app/access", **ACCESS),
    "make a token": Button("button[value=token]", (), "/app/access", **ACCESS),
    "link of a token": Button("form[action$='/link'] button", (), "/app/access", **ADMIN),
    "revoke": Button("form[action$='/revocation'] button", (), "/app/access", before=with_token, **ADMIN),
    "sign out": Button("text=Sign out", (), SITE),
}
QUICK = [("Recommend", 390)]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with in_file(tmp_path_factory.mktemp("taps") / "trials.db", ServiceSettings(tap_delay=DELAY)) as running:
        yield running


def events(service: Service, trial: str) -> list[str]:
    assert service.store is not None
    with service.store.reading() as view:
        return [str(decode(one.body).__struct_config__.tag) for one in walk(view, view.trials()[trial])]


def come_to(visitor: Visitor, button: Button, service: Service) -> tuple[str, Any, int]:
    """Open the page of a button, and do what comes before it; returns the trial, the button, and its records."""
    trial, site = service.new_trial(**{"policy": "uniform", **button.design}), service.client("site")
    made = site.recommend(trial, "S-01", stratum="under 60" if "strata" in button.design else None)
    page, names = visitor.page, {"trial": trial, "made": made.id, "kit": made.kit or ""}
    button.before(service, trial, made.id)
    n_records = len(events(service, trial))
    page.on("dialog", lambda dialog: dialog.accept())
    visitor.open(button.path.format(**names))
    if button.opened:
        page.wait_for_function(READY)
        page.click(f"summary:has-text('{button.opened}')")
    for place, text in button.typed.items():
        if page.locator(place).evaluate("one => one.localName") == "select":
            page.select_option(place, label=text)
        else:
            page.fill(place, text.format(**names))
    if button.ticked:
        page.wait_for_function(READY)
        page.check(button.ticked)
    for selector in filter(None, (button.first, button.selector)):
        found = page.locator(selector).locator("visible=true").first
        found.scroll_into_view_if_needed()
        page.wait_for_function(READY)
        if selector == button.first:
            with page.expect_response(lambda reply: reply.request.method == "POST"):
                found.tap()
    return trial, found, n_records


def tap_again_and_again(page: Any, button: Any) -> tuple[float, float]:
    """Tap a button, and its place again while a second tap may still be the same movement of the finger."""
    box = button.bounding_box()
    place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    begun = time.monotonic()
    for gap in (0.0, *GAPS):
        time.sleep(max(0.0, begun + gap - time.monotonic()))
        if time.monotonic() - begun > GAPS[-1] + 0.05:
            break  # a busy machine: this would be another tap
        page.touchscreen.tap(*place)
    return place


def assert_nothing_sends_at(page: Any, place: tuple[float, float], tapped: str) -> None:
    """No other button that sends something is where the last one was."""
    x, y = place
    for name, left, right, top, bottom in page.eval_on_selector_all(SENDING, BOXES):
        near = left < x + NEAR and right > x - NEAR and top < y + NEAR and bottom > y - NEAR
        assert not near or name == tapped, f"{name} is at {place}"


@pytest.mark.parametrize(
    ("name", "width"),
    [
        pytest.param(name, width, marks=() if (name, width) in QUICK else pytest.mark.slow)
        for name in BUTTONS
        for width in WIDTHS
    ],
)
def test_a_button_tapped_again_sends_once(browser: Any, guarded: Service, name: str, width: int) -> None:
    button = BUTTONS[name]
    with visiting(browser, guarded, button.role, phone=True, width=width) as phone:
        page = phone.page
        sent: list[str] = []
        trial, found, n_records = come_to(phone, button, guarded)
        in_form = "one => one.form.getAttribute('action') + ' ' + one.textContent.trim()"
        tapped = found.locator("xpath=ancestor-or-self::button").evaluate(in_form)
        page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
        place = tap_again_and_again(page, found)
        page.wait_for_function("document.readyState === 'complete'")
        assert len(sent) == 1
        assert tuple(events(guarded, trial)[n_records:]) == button.events
        assert_nothing_sends_at(page, place, tapped)


EDGES = {  # shares of the button's width and height
    "bottom": (0.5, 0.97),
    "top": (0.5, 0.03),
    "left": (0.02, 0.5),
    "right": (0.98, 0.5),
    "corner": (0.98, 0.97),
    "centre": (0.5, 0.5),
}
AT_EDGES = {
    name: replace(BUTTONS[name], design=design)
    for name, design in (
        ("Recommend", BLINDED),
        ("nothing", {}),
        ("this kit", BLINDED),
        ("the arm recommended", WORDS),
        ("a word", WORDS),
    )
}
QUICK_EDGES = [("Recommend", "bottom")]


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose pages wait so shortly that only the places of buttons protect."""
    with in_file(tmp_path_factory.mktemp("hasty") / "trials.db", ServiceSettings(tap_delay=0.05)) as running:
        yield running


@pytest.mark.parametrize(
    ("name", "edge"),
    [
        pytest.param(name, edge, marks=() if (name, edge) in QUICK_EDGES else pytest.mark.slow)
        for name in AT_EDGES
        for edge in EDGES
    ],
)
def test_no_button_appears_around_a_tap_at_the_edge_of_one(
    browser: Any, hasty: Service, name: str, edge: str
) -> None:
    for height in (640, 700, 844) if edge == "bottom" and (name, edge) not in QUICK_EDGES else (700,):
        with visiting(browser, hasty, "site", phone=True) as phone:
            page = phone.page
            page.set_viewport_size({"width": 390, "height": height})
            _, found, _ = come_to(phone, AT_EDGES[name], hasty)
            button = found.locator("xpath=ancestor-or-self::button")
            box, (across, down) = button.bounding_box(), EDGES[edge]
            place = box["x"] + across * box["width"], box["y"] + down * box["height"]
            with page.expect_navigation():
                page.touchscreen.tap(*place)
            page.wait_for_function(READY)
            assert_nothing_sends_at(page, place, "")


def test_a_tap_that_is_ignored_leaves_nothing_to_a_key(browser: Any, held: Service) -> None:
    """A grey button that was tapped has no focus: Enter or Space, once it is ready, would use it."""
    trial = held.new_trial(policy="uniform")
    made = held.client("site").recommend(trial, "S-1").id
    with visiting(browser, held, "site", phone=True) as phone:
        page = phone.page
        phone.open(f"/app/trials/{trial}/recommendations/{made}")
        nothing = page.locator("button:has-text('Nothing')")
        for tap in (nothing.tap, nothing.click):
            tap()
            assert page.evaluate("document.activeElement.localName") == "body"


def test_a_page_that_replaced_its_contents_waits_again(browser: Any, held: Service) -> None:
    """Enter in a text field of the new contents was meant for the old ones."""
    with visiting(browser, held, "site", phone=True) as phone:
        page = phone.page
        phone.open(f"/app/trials/{held.new_trial(policy='uniform')}/site")
        page.evaluate("document.documentElement.classList.remove('settling')")
        page.evaluate("document.querySelector('main').dispatchEvent(new CustomEvent('htmx:load', {bubbles: true}))")
        assert "settling" in page.evaluate("document.documentElement.className")


@pytest.mark.slow
def test_a_simulation_that_is_stopped_with_two_taps_sends_once(browser: Any, guarded: Service) -> None:
    button = BUTTONS["simulate"]
    with visiting(browser, guarded, "statistician", phone=True) as phone:
        page = phone.page
        sent: list[str] = []
        _, found, _ = come_to(phone, button, guarded)
        page.fill("[name=n_trials]", "20000")
        found.tap()
        page.wait_for_selector("#stop-simulation")
        page.wait_for_function(READY)  # though it is replaced every half a second
        page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
        tap_again_and_again(page, page.locator("#stop-simulation"))
        page.wait_for_selector("#simulation:has-text('Stopped')")
        assert len(sent) == 1


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose pages ignore input for so long that a test sees nothing else."""
    with in_file(tmp_path_factory.mktemp("held") / "trials.db", ServiceSettings(tap_delay=10)) as running:
        yield running


GREY = """button => { const probe = document.createElement('p'); document.body.append(probe);
  probe.style.color = 'var(--line)'; const line = getComputedStyle(probe).color; probe.remove();
  return getComputedStyle(button).backgroundColor === line; }"""


def test_a_page_just_shown_takes_what_is_typed_and_nothing_else(browser: Any, held: Service) -> None:
    trial = held.new_trial(**BLINDED)
    with visiting(browser, held, "site", phone=True) as phone:
        page = phone.page
        sent: list[str] = []
        phone.open(f"/app/trials/{trial}/site")
        page.on("request", lambda asked: sent.append(asked.url))
        button = page.locator("text=Recommend")
        assert button.evaluate(GREY)
        page.tap("#subject")
        page.keyboard.type("S 2")
        page.keyboard.press("Enter")
        page.locator("input[value='under 60']").tap()
        for key in ("Enter", " "):
            button.focus()
            page.keyboard.press(key)
        button.tap()
        button.click()
        assert page.input_value("#subject") == "S 2"
        assert not page.is_checked("input[value='under 60']")
        page.locator("header a:has-text('Trials')").tap()  # navigation changes nothing
        page.wait_for_url("**/app/trials")
        assert [url for url in sent if url.endswith("/site")] == []
        assert events(held, trial) == ["created"]


def test_one_comes_back_to_a_page_that_waits_again(browser: Any, held: Service) -> None:
    """Chromium under test keeps no page to come back to, so the event is dispatched by hand."""
    with visiting(browser, held, "site", phone=True) as phone:
        phone.open(f"/app/trials/{held.new_trial(policy='uniform')}/site")
        shown = "document.documentElement.className"
        phone.page.evaluate("document.documentElement.classList.remove('settling')")
        assert "settling" not in phone.page.evaluate(shown)
        phone.page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        assert "settling" in phone.page.evaluate(shown)


def test_a_page_without_scripts_does_not_wait(browser: Any, held: Service) -> None:
    trial = held.new_trial(policy="uniform")
    with visiting(browser, held, "site", phone=True) as phone:
        state = phone.page.context.storage_state()
    context = browser.new_context(java_script_enabled=False, storage_state=state, base_url=held.url)
    page = context.new_page()
    page.goto(f"/app/trials/{trial}/site")
    page.fill("#subject", "S-1")
    page.click("text=Recommend")
    assert page.inner_text(".given h1").startswith("S-1")
    context.close()


def test_buttons_that_move_on_a_page_that_changes_nothing_do_not_wait(browser: Any, guarded: Service) -> None:
    """Links below the parts of the monitor are such, since those are replaced whenever the log has grown."""
    with visiting(browser, guarded, "admin") as admin:
        page = admin.page
        admin.open("/app/trials")
        page.wait_for_function(READY)
        moving = "() => new Promise(done => { document.querySelector('h1').style.marginTop = '300px';"
        page.evaluate(f"{moving} setTimeout(done, 100); }})")
        assert page.locator(".settling").count() == 0
        page.click("main a:has-text('New trial')")
        page.wait_for_url("**/app/new-trial")


@pytest.mark.slow
def test_what_moves_under_the_finger_waits(browser: Any, guarded: Service) -> None:
    """The notice of what was not sent moves everything below it; so does what one opens."""
    trial = guarded.new_trial(policy="uniform", **WORDS)
    made = guarded.client("site").recommend(trial, "S-1").id
    with visiting(browser, guarded, "site", phone=True) as phone:
        page = phone.page
        phone.open(f"/app/trials/{trial}/recommendations/{made}")
        page.wait_for_function(READY)
        page.context.set_offline(True)
        nothing = page.locator("button:has-text('Nothing')")
        nothing.scroll_into_view_if_needed()
        place = tap_again_and_again(page, nothing)
        page.wait_for_selector("#unsent:has-text('Not sent yet')")
        kept = "JSON.parse(localStorage.getItem('adhere-unsent')).map(tap => tap.what)"
        assert page.evaluate(kept) == ["what was taken of S-1: Nothing"]
        assert_nothing_sends_at(page, place, "")
        page.wait_for_function(READY)
        page.evaluate("document.querySelector('#unsent').style.height = '500px'")  # by whatever
        page.wait_for_selector("button.settling:has-text('alive')")
        page.locator("text=alive").tap()
        assert len(page.evaluate(kept)) == 1
        page.wait_for_function(READY)
        page.locator("text=alive").tap()
        page.wait_for_function("JSON.parse(localStorage.getItem('adhere-unsent')).length === 2")


def test_opening_a_part_with_two_taps_leaves_it_open(browser: Any, guarded: Service) -> None:
    trial = guarded.new_trial(policy="uniform")
    made = guarded.client("site").recommend(trial, "S-1").id
    with visiting(browser, guarded, "site", phone=True) as phone:
        page = phone.page
        phone.open(f"/app/trials/{trial}/recommendations/{made}")
        page.wait_for_function(READY)
        page.locator("summary:has-text('Something else')").dblclick()
        assert page.is_visible("#took-other")


def test_a_page_waits_for_a_second_unless_told_otherwise() -> None:
    assert ServiceSettings().tap_delay == 1.0
