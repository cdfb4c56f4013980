"""The report in a real browser, at the width of a phone and of a laptop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adhere.report.page import page
from adhere.report.section import AGREES, DIFFERS, IN_PART, Claim, Listing, ReportFigure, Section
from adhere.report.style import figure_files

from .browser import inspect_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PHONE, LAPTOP = 390, 1280
POLICY = "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.085)), recycle=true)"
WORD = "Unbroken" * 25
HTML = "<b>bold</b> & <script>console.error('ran')</script><img src=http://localhost:9/x.png> costs $5, not $6"


def a_curve() -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 2.8), layout="constrained")
    axes = figure.subplots()
    for number, style in enumerate(("-", "--", ":")):
        axes.plot([0, 2500, 5000, 7500, 10000], [0, 2 + number, 4 + number, 6 + number, 7 + number], style)
    axes.set(title=POLICY[:50], xlabel="patients", ylabel="surplus lives ($)")
    return figure


def sections() -> list[Section]:
    curves = [
        ReportFigure("stroke-along", f"Surplus along the trial, with 95% intervals. {POLICY}", "Curves.", a_curve),
        ReportFigure(
            "stroke-final", "Final surplus of each policy, with 95% intervals.", 'Dots & "intervals".', a_curve
        ),
        ReportFigure("stroke-third", WORD, f"A third figure: {HTML}", a_curve),
    ]
    header = ["policy", "protocol", *(f"measure number {number}" for number in range(1, 8))]
    wide = [
        [POLICY, "chosen", *(f"{row * number / 7:,.2f} [-0.12, 1,234.56]" for number in range(1, 8))]
        for row in range(3)
    ]
    numbers = [[f"epsilon-greedy(epsilon={number / 1000})", f"{number * 1.5:.1f}"] for number in range(60)]
    return [
        Section(
            "stroke",
            "Stroke trial (the paper's Figure 1)",
            question="Which policies save the most lives when the International Stroke Trial is run again as a "
            "bandit?",
            result=f"Over both trials {POLICY} saves 8.5 [7.7, 9.3] lives in 10,000 patients beyond uniform "
            "randomisation, Thompson sampling under Chosen 7.2 [6.4, 8.0]. The gain is mostly in the aspirin trial.",
            uncertainty="Intervals are 95% over 2,000 runs with common random numbers; the difference between the "
            "two is 1.3 [0.9, 1.7], so their order is not in doubt. One setting was chosen after seeing results.",
            claims=[
                Claim("Thompson sampling, pooled surplus lives", "7.9 [7.2, 8.7]", "7.2 [6.4, 8.0]", AGREES),
                Claim(f"ThompsonBounded, pooled surplus lives, read as {POLICY}", "8.9 [8.1, 9.7]", POLICY, IN_PART),
                Claim("Actual beats Chosen and the hybrids", "seen for Thompson and ε-greedy", "not seen", DIFFERS),
            ],
            figures=curves,
            listings=[
                Listing("Every reading of ThompsonBounded, none hidden", header, wide),
                Listing("All policies", ["policy", "surplus"], numbers, folded=True),
            ],
            credits=f"Data: International Stroke Trial database (version 2), ODC-By. {HTML}",
        ),
        Section(
            "rich-and-poor",
            f"Rich and poor {HTML} {WORD}",
            question=HTML,
            result=WORD,
            uncertainty=POLICY.replace(" ", ""),
            claims=[Claim(WORD, HTML, WORD, DIFFERS), Claim(HTML, "7.9", "about the same", AGREES)],
            figures=[ReportFigure("alone", "A figure alone", "A curve.", a_curve)],
            listings=[Listing(WORD, [WORD, HTML], [[WORD, HTML], ["short", "0.5%"]])],
        ),
        Section(
            "bare",
            "A study with a headline only",
            "Was anything asked?",
            "No.",
            "",
            headline=ReportFigure("top", "The headline.", "A curve at the top.", a_curve),
        ),
    ]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    told = sections()
    figures = {
        drawing.name: figure_files(drawing.draw)[".svg"] for section in told for drawing in section.all_figures()
    }
    foot = {"config": POLICY, "seed": "0", "machine": WORD, "duration": "3 min 12 s", "note": HTML}
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(page("Compliance-Aware Bandits, run again", told, figures, foot), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_the_report_opens_without_a_fault(report: Path, width: int) -> None:
    facts = inspect_page(report, width)
    assert facts.faults() == []
    assert facts.client_width == width
    assert len(facts.figures) == 5
    assert facts.figures[0].alternative == "A curve at the top."
    assert facts.figures[2].alternative == 'Dots & "intervals".'


def faults_of(body: str, folder: Path, width: int) -> list[str]:
    path = folder / "page.html"
    path.write_text("<!doctype html>" + body, encoding="utf-8")
    return inspect_page(path, width).faults()


def test_faults_are_seen(tmp_path: Path) -> None:
    drawn = """src='data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'"""
    faulty = {
        "console: ouch": "<script>console.warn('ouch')</script>",
        "uncaught: no": "<script>throw new Error('no')</script>",
        "asked for http://localhost:9/x.js": "<script src='http://localhost:9/x.js'></script>",
        "asked for file:": "<link rel=stylesheet href=other.css>",
        "not seen: FigureFacts(alternative='empty'": "<img alt=empty width=50 src='data:image/svg+xml,nothing'>",
        "not seen: FigureFacts(alternative='hidden'": f"<img alt=hidden style='visibility: hidden' {drawn}>",
        "sticks out: <div": "<div style='width: 2000px'>wide</div>",
        "folded in print: kept": "<details><summary>s</summary><table><tr><td>kept</table></details>",
        "the page is 20": "",
    }
    faults = faults_of(f"<img alt=good {drawn}>" + "".join(faulty.values()), tmp_path, LAPTOP)
    assert [fault for fault in faulty if not any(said.startswith(fault) for said in faults)] == []
    assert not any("good" in said for said in faults)


def test_what_is_cut_off_is_a_fault_too(tmp_path: Path) -> None:
    cut_off = "<html style='overflow-x: hidden'><p style='width: 2000px'>cut off</p>"
    assert any(said.startswith("sticks out: <p") for said in faults_of(cut_off, tmp_path, LAPTOP))


def test_a_wide_table_in_a_box_that_scrolls_is_no_fault(tmp_path: Path) -> None:
    assert faults_of("<div style='overflow-x: auto'><p style='width: 2000px'>wide</p></div>", tmp_path, PHONE) == []


def test_no_browser_is_a_reason_to_skip_but_not_in_continuous_integration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        inspect_page(tmp_path / "any.html", PHONE)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        inspect_page(tmp_path / "any.html", PHONE)
