"""`adhere demo` as a visitor has it: open the link that it printed, and watch patients come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from demo.process import demo_process
from service.serving import wait_until


@pytest.mark.slow
def test_the_printed_link_leads_to_a_monitor_that_changes_by_itself(browser: Any, tmp_path: Path) -> None:
    complaints: list[str] = []
    with demo_process(tmp_path, "--speed", "10") as demo:
        page = browser.new_context().new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto(demo.links[0])
        page.wait_for_function("() => !document.querySelector('.settling')")  # a page just shown ignores clicks
        page.click("button:has-text('Sign in with this link')")
        page.wait_for_url("**/app/trials")
        trial = page.get_by_role("link", name="rich-and-poor").first
        wait_until(lambda: page.reload() and trial.count() > 0, 60)  # it is created once its policy is compiled
        trial.click()
        page.get_by_role("link", name="Monitor").click()
        page.evaluate("window.loadedOnce = true")
        patients = page.locator("#n-patients")
        patients.wait_for()
        before = patients.inner_text()
        page.wait_for_function("before => document.querySelector('#n-patients').textContent !== before", arg=before)
        assert int(patients.inner_text().replace(",", "")) > int(before.replace(",", ""))
        assert page.evaluate("window.loadedOnce")
        page.context.close()
    assert complaints == []
