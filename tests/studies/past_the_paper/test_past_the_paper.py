"""The section past the paper follows its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars

from adhere.policies import as_policy, optimal_surplus
from adhere.report.section import OURS
from adhere.simulation.simulate import POOLED
from adhere.studies.catalogue import STUDIES
from adhere.studies.lineup import HEADLINES
from adhere.studies.past_the_paper.study import (
    ANY_HORIZON,
    DEFAULT,
    HYBRIDS,
    OPTIMUM,
    SMALL,
    STUDY,
    THOMPSON,
    Entry,
    _fractions,
)
from adhere.studies.small_trials.study import READINGS
from adhere.studies.stroke_trial.study import TRIALS
from studies.sections import check_texts_are_whole, prose

if TYPE_CHECKING:
    from adhere.studies.framework.study import Tables


def final(
    populations: Sequence[str], entries: Sequence[Entry], means: dict[Entry, float], n: int
) -> polars.DataFrame:
    """Every surplus at its mean ± 0.2, and its difference from Thompson's ± 0.1; 1 where no mean is given."""
    rows = []
    for population in populations:
        for one in entries:
            who = {"population": population, **one._asdict(), "n_patients": n, "n_runs": 50, "seed": 0}
            mean, gain = means.get(one, 1.0), means.get(one, 1.0) - means.get(THOMPSON, 1.0)
            rows.append({**who, "measure": "surplus", "mean": mean, "se": 0.1, "low": mean - 0.2, "high": mean + 0.2})
            rows.append(
                {**who, "measure": "difference", "mean": gain, "se": 0.05, "low": gain - 0.1, "high": gain + 0.1}
            )
    return polars.DataFrame(rows)


def tables(lives: dict[Entry, float], rewards: dict[Entry, float]) -> Tables:
    stroke = final((*TRIALS, POOLED), ANY_HORIZON, lives, 10_000)
    small = final(tuple(READINGS), SMALL, rewards, 12)
    along = stroke.filter(measure="surplus").drop("measure").with_columns(t=polars.lit(10_000))
    return {"stroke": stroke, "along": along, "small": small, "fractions": _fractions(small)}


def test_it_is_the_last_study_and_plays_the_papers_policies_beside_others() -> None:
    assert list(STUDIES)[-1] == STUDY.name == "past-the-paper"
    full = STUDY.experiments(False)
    for one in full.values():
        assert {headline.policy for headline in HEADLINES} < set(one.policies)
        for policy in one.policies:
            as_policy(policy).resolved(2, one.n_patients)  # raises where the horizon is too long
    assert full["stroke"].n_patients == 10_000
    assert full["small"].n_patients == 12
    assert len({one.label for one in SMALL}) == len({one.policy for one in SMALL}) == len(SMALL) == 12


def test_fractions_are_of_the_computed_optimum() -> None:
    small = final(tuple(READINGS), SMALL, {OPTIMUM: optimal_surplus(12, "uniform-other"), DEFAULT: 0.1578}, 12)
    fractions = {row["label"]: row for row in _fractions(small).iter_rows(named=True)}
    assert abs(fractions["optimum"]["mean"] - 1.0) < 1e-9
    assert abs(fractions["MediatedThompson"]["mean"] - 0.5) < 1e-3
    assert abs(fractions["optimum"]["high"] - (1 + 0.2 / 0.3156)) < 1e-3
    assert len(fractions) == len(SMALL)


def test_sentences_follow_the_numbers() -> None:
    lives = {THOMPSON: 7.0, DEFAULT: 11.5, HYBRIDS[0]: 8.5, HYBRIDS[1]: 11.4}
    section = STUDY.render(tables(lives, {THOMPSON: 0.17, DEFAULT: 0.179, OPTIMUM: 0.3156}))
    check_texts_are_whole(section)
    assert section.result == (
        "MediatedThompson saves 11.5 lives, the paper's hybrids 8.5 and 11.4 and Thompson sampling 7.0; in trials of "
        "12 it gains 56.7% of the optimum, Thompson sampling 53.9%."
    )
    stroke, small, guards = section.claims
    assert {one.verdict for one in section.claims} == {OURS}
    assert stroke.ours.startswith("11.5 [11.3, 11.7]; minus Thompson sampling on the same patients +4.5 [+4.4, +4.6]")
    assert (
        "beyond chance above ThompsonBounded, recycling. The others: Thompson under Chosen 7.0 [6.8, 7.2]"
        in stroke.ours
    )
    assert "The optimum is 0.3156 rewards per trial" in small.ours
    assert guards.ours.endswith(
        "MediatedThompson alone 11.5 [11.3, 11.7] and 56.7% [−6.7%, 120.1%]".replace("−", "-")
    )
    behind = STUDY.render(tables({DEFAULT: 1.0, HYBRIDS[0]: 8.5, HYBRIDS[1]: 11.4}, {}))
    assert "beyond chance above neither hybrid of the paper" in behind.claims[0].ours


def test_section_is_whole() -> None:
    section = STUDY.render(tables({}, {}))
    assert "No bound on the regret of MediatedThompson is proved." in prose(section)
    assert [len(one.rows) for one in section.listings] == [len(ANY_HORIZON), len(SMALL), len(SMALL)]
    for listing in section.listings:
        assert {len(row) for row in listing.rows} == {len(listing.header)}
    assert len({one.name for one in section.figures}) == 4
