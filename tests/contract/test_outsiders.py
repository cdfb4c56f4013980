"""With only the log of a live trial, anybody checks every probability of any policy; after the reveal, every arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adhere.design.parts import Looks, Stopping
from adhere.policies import import_policies
from adhere.populations import Population
from adhere.trial.domain.commands import ChangeStatus, Reveal
from adhere.trial.domain.events import EpochBegun, Recommended
from adhere.trial.log.log_file import write_log
from adhere.trial.log.replay import ReplayResult, replay
from adhere.trial.log.verify import VerificationResult, verify
from adhere.trial.sources import one_trial
from adhere.trial.writing.creation import begin_epochs
from evaluation.trials import compliers
from trial.live import Live, number_of

from .policies_under_test import variants
from .populations_under_test import graded_rewards, mixed

N_PATIENTS, SEED, LATE = 30, 5, 4


def play_live(policy: str, population: Population, **design: Any) -> Live:
    """A live trial with a secret: reports come late, two are corrected, and halfway a new epoch begins."""
    arms, values = population.arms, population.reward_values
    live = Live(policy, arms=arms, n_patients=N_PATIENTS, reward_values=values, **design)
    patients = population.patients(SEED, 0, N_PATIENTS)
    made = []
    for index in range(N_PATIENTS + LATE):
        if index == N_PATIENTS // 2:
            begin_epochs(live.store, live.clock(), "to test it", always=True)
        if index < N_PATIENTS:
            strata = live.design.strata
            made.append(live.recommend(f"s-{index}", stratum=strata[index % 5 % 2] if strata else None))
        if (due := index - LATE) >= 0:
            chosen = arms.index(made[due].arm or "")
            taken, reward = arms[patients.actual[due, chosen]], float(patients.reward[due, chosen])
            live.report(made[due].recommendation_id, actual=taken, reward=reward)
        if index == N_PATIENTS - LATE:
            live.correct(made[2].recommendation_id, actual=arms[-1], reward=values[0])
            live.correct(made[N_PATIENTS // 2].recommendation_id, reward=values[-1])
    return live


def as_outsider(live: Live, path: Path) -> tuple[VerificationResult, ReplayResult]:
    """What somebody finds who was sent the log and nothing else."""
    with live.store.reading() as view:
        write_log(view, number_of(view), path)
    with one_trial(str(path), None) as found:
        return verify(found.view, found.number), replay(found.view, found.number)


def check_log(live: Live, path: Path) -> None:
    """Check that an outsider can verify all probabilities, and after the reveal all arms."""
    verdict, found = as_outsider(live, path)
    assert (verdict.fault, verdict.secret, found.difference) == (None, "unknown", None), live.design.policy
    assert (found.n_by_log, found.n_derived, found.n_fallbacks, found.n_refused) == (N_PATIENTS, 0, 0, 0)
    live.send(ChangeStatus(trial="t", request_id="close", status="closed", reason="all outcomes are known"))
    live.send(Reveal(trial="t", request_id="reveal", reason="the report is written"))
    verdict, found = as_outsider(live, path)
    assert (verdict.fault, verdict.secret, found.difference) == (None, "revealed", None), live.design.policy
    assert (found.n_by_log, found.n_derived, found.n_fallbacks, found.n_refused) == (0, N_PATIENTS, 0, 0)


def test_every_probability_can_be_checked_and_after_the_reveal_every_arm(
    subject: str, n_arms: int, tmp_path: Path
) -> None:
    population = mixed(n_arms, graded_rewards(subject))
    for text in variants(subject, n_arms):
        live = play_live(text, population)
        epochs = [event.epoch for event in live.events() if isinstance(event, Recommended)]
        (begun,) = [event for event in live.events() if isinstance(event, EpochBegun)]
        assert epochs == [""] * 15 + [begun.commitment] * 15
        check_log(live, tmp_path / "t.log")


def test_estimated_probabilities_too(tmp_path: Path) -> None:
    """The draws that estimate them are by public keys, and those of the arms leave no trace in them."""
    import_policies(Path(__file__).parents[1] / "trial" / "noting.py")
    live = play_live("noting", mixed(2))
    made = [event for event in live.events() if isinstance(event, Recommended)]
    assert all(event.estimated for event in made)
    assert len({event.probabilities for event in made}) > 1
    check_log(live, tmp_path / "t.log")


@pytest.mark.parametrize(
    ("policy", "design"),
    [
        ("thompson", {"update": "at looks"}),
        ("burn-in(thompson, patients=12)", {"update": "at looks", "strata": ("young", "old")}),
        ("burn-in(floor(exp3(gamma=0.2)), patients=20)", {}),
        ("mediated-thompson", {}),
    ],
)
def test_what_a_design_prescribes_and_dropped_arms_too(policy: str, design: dict[str, Any], tmp_path: Path) -> None:
    stopping = Stopping(by="posterior", superiority=0.999, inferiority=0.2)
    live = play_live(policy, compliers(0.05, 0.6, 0.7), looks=Looks(every=5), stopping=stopping, **design)
    made = [event for event in live.events() if isinstance(event, Recommended)]
    assert any(0.0 in event.probabilities for event in made)  # for an arm was dropped
    check_log(live, tmp_path / "t.log")
