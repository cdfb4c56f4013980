"""`analyse` for counts, tables of every shape and a trial in memory: its numbers, its text and its page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import polars

import adhere
from report.html_reader import Reader

from .digests import digest, fingerprint

N_PATIENTS, SEED = 240, 31
ARMS = ("control", "new", "newer")
_VERSION = re.compile(r"adhere \d+\.\d+\.\d+")


def table(
    n_arms: int = 2,
    *,
    values: tuple[float, ...] = (0.0, 1.0),
    strata: tuple[str, ...] = (),
    missing: float = 0.0,
    adaptive: bool = False,
    by_stratum: bool = False,
    without_probability: int = 0,
    n_subjects: int | None = None,
) -> polars.DataFrame:
    """Patients of whom a fifth takes another arm than the one chosen.

    With `adaptive`, the table has the probabilities of arms, which follow the outcomes so far. With `by_stratum`,
    they follow the outcomes of the patient's own stratum.
    """
    rng = np.random.default_rng(SEED)
    won = np.ones((max(1, len(strata)), n_arms))
    lost = won.copy()
    rows: list[dict[str, Any]] = []
    for patient in range(N_PATIENTS):
        stratum = int(rng.integers(len(strata))) if strata else 0
        learned = stratum if by_stratum else 0
        share = won[learned] / (won[learned] + lost[learned]) + 0.1
        probabilities = share / share.sum() if adaptive else np.full(n_arms, 1.0 / n_arms)
        chosen = int(rng.choice(n_arms, p=probabilities))
        actual = chosen if rng.random() < 0.8 else int(rng.integers(n_arms))
        reached = rng.random() < 0.3 + 0.15 * actual + 0.1 * stratum
        reward = values[-1] if reached else values[int(rng.integers(len(values) - 1))]
        won[learned, chosen] += reward
        lost[learned, chosen] += 1.0 - reward
        row = {
            "subject": f"S{patient % (n_subjects or N_PATIENTS):03}",
            "time": patient,
            "chosen": ARMS[chosen],
            "actual": None if rng.random() < missing / 2 else ARMS[actual],
            "reward": None if rng.random() < missing * (1 + actual) / 2 else reward,
        }
        if strata:
            row["stratum"] = strata[stratum]
        if adaptive:
            known = patient >= without_probability
            row |= {f"PROB_{arm}": probabilities[place] if known else None for place, arm in enumerate(ARMS[:n_arms])}
        rows.append(row)
    return polars.DataFrame(rows, infer_schema_length=None)


def trial() -> adhere.Trial:
    """A trial in memory, so that the allocation can be drawn again."""
    rng = np.random.default_rng(SEED)
    made = adhere.Trial("thompson", ("walk", "aspirin"), seed=SEED, n_patients=80)
    for _ in range(80):
        recommended = made.recommend()
        actual = recommended.arm if rng.random() < 0.8 else "walk"
        made.report(recommended.id, actual=actual, reward=bool(rng.random() < (0.6 if actual == "aspirin" else 0.4)))
    return made


SITES = ("Leeds", "York")
GRADED = (0.0, 0.5, 1.0)
ANALYSES: dict[str, Callable[[], adhere.Analysis]] = {
    "stroke-aspirin": lambda: adhere.analyse("stroke-aspirin"),
    "stroke-heparin, lower is better, 90%": lambda: adhere.analyse("stroke-heparin", level=0.9, lower_is_better=True),
    "two arms": lambda: adhere.analyse(table(), fixed_allocation=True),
    "two arms, graded, missing": lambda: adhere.analyse(table(values=GRADED, missing=0.1)),
    "two arms, strata, missing": lambda: adhere.analyse(table(strata=SITES, missing=0.1)),
    "three arms": lambda: adhere.analyse(table(3), control="new"),
    "three arms, strata": lambda: adhere.analyse(table(3, strata=SITES)),
    "repeated subjects": lambda: adhere.analyse(table(n_subjects=200)),
    "adaptive": lambda: adhere.analyse(table(adaptive=True)),
    "adaptive, missing": lambda: adhere.analyse(table(adaptive=True, missing=0.1)),
    "adaptive, three arms, graded": lambda: adhere.analyse(table(3, values=GRADED, adaptive=True)),
    "adaptive, strata": lambda: adhere.analyse(table(strata=SITES, adaptive=True)),
    "adaptive by stratum": lambda: adhere.analyse(table(strata=SITES, adaptive=True, by_stratum=True)),
    "adaptive, one probability missing": lambda: adhere.analyse(table(adaptive=True, without_probability=1)),
    "trial in memory": lambda: adhere.analyse(trial(), redraws=199, seed=SEED),
}
SLOW = ("trial in memory",)  # compiles what draws the allocation again
PAGES = ("stroke-aspirin", "three arms, strata", "adaptive, strata", "adaptive by stratum")


def analysed(name: str) -> dict[str, Any]:
    """A fingerprint of all that an analysis found, its comparisons' estimates, and digests of what it prints."""
    found = ANALYSES[name]()
    written = found.to_json()
    return {
        "differences": [one["difference"]["value"] for one in written["effects"]["comparisons"]],
        "all": fingerprint(written),
        "summary": digest([_without_version(found.summary(width)) for width in (60, 100)]),
    }


def page(name: str) -> dict[str, Any]:
    """Digests of the words and tables of an analysis' page; figures depend on fonts and are left out."""
    reader = Reader(ANALYSES[name]().to_html())
    return {tag: digest([_without_version(text) for text in reader.texts(tag)]) for tag in ("h2", "p", "td", "li")}


def _without_version(text: str) -> str:
    return _VERSION.sub("adhere", text)
