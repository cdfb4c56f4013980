"""One trial of a design in plain Python, from its definition: lists of what is known, sorted anew at every step.

Policies are those of the library, run as Python; what a look decides is tested elsewhere, and taken from there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from adhere import Population
from adhere.compilation import memo_of, state_of
from adhere.design.design import Design
from adhere.design.make_look_rules import look_rules
from adhere.design.planned_looks import burn_in_of, look_counts, look_days, planned_looks
from adhere.looks.judge import ACTIVE, GO_ON, N_VALUES, Evidence, judge, work_size
from adhere.policies import ComplianceAwareLearner, as_policy
from adhere.policies.base.generic import choose, note_allocation, probabilities, remember, remember_guarded, update
from adhere.policies.base.policy import TrialShape, probabilities_size
from adhere.policies.guards.floor import Floor
from adhere.policies.guards.guard import Guard
from adhere.randomness import CHOOSE, ESTIMATE, LEARN, LEARN_LATE, point, stream, uniforms

from .confidence_sequence import Decision, log_wealth
from .design_world import Heard, World
from .permuted import PermutedBlocks

NOTHING = 1e-12


class PlainPolicy:
    """A policy that runs as Python."""

    def __init__(self, design: Design, population: Population, seed: int, run: int) -> None:
        n_arms = len(design.arms)
        policy = as_policy(design.policy).resolved(n_arms, design.n_patients)
        self.sees_both = any(isinstance(one, ComplianceAwareLearner) for one in policy.learners())
        compiled = policy.assemble(TrialShape(n_arms, population.reward_values))
        self._rule, self._floats, self._rng = compiled.rule, compiled.state, stream(seed, run)
        self._memo_size, self._size = compiled.memo_size, compiled.memo_size + compiled.scratch_size
        self._depth, self.floor = 0, 0.0
        while isinstance(policy, Guard):
            self.floor = policy.share if isinstance(policy, Floor) else self.floor
            policy, self._depth = policy.inner, self._depth + 1

    def _views(self, memo: Any) -> Any:
        return state_of(self._rule, self._floats), memo_of(self._rule, memo)

    def choose(self, number: int, shares: list[float] | None) -> tuple[int, Any]:
        memo = np.zeros(self._size)
        state, named = self._views(memo)
        remember(self._rule, state, named)
        point(self._rng, number, CHOOSE)
        if shares is None:
            arm = choose(self._rule, state, named, 1.0, self._rng)
            note_allocation(self._rule, state, arm, self._rng)
            return arm, memo[: self._memo_size].copy()
        u, arm = float(uniforms(self._rng[None, :2], np.array([number]), CHOOSE)[0, 0]), 0
        ends = [math.fsum(shares[: place + 1]) for place in range(len(shares))]
        possible = [place for place, share in enumerate(shares) if share > 0.0]
        arm = next((place for place in possible if u < ends[place]), possible[-1])
        remember_guarded(self._rule, state, named, np.array(shares), 0.0, self._rng)
        note_allocation(self._rule, state, arm, self._rng)
        return arm, memo[: self._memo_size].copy()

    def probabilities(self, number: int, inside: bool = False) -> list[float]:
        rule, (state, memo) = self._rule, self._views(np.zeros(self._size))
        for _ in range(self._depth if inside else 0):
            rule, state, memo = rule.inner, state.inner, memo.inner
        out = np.zeros(probabilities_size(rule.n_arms))
        remember(rule, state, memo)
        point(self._rng, number, ESTIMATE)
        probabilities(rule, state, memo, 1.0, out, self._rng)
        return [min(1.0, max(0.0, float(one))) for one in out[: rule.n_arms]]

    def learn(self, number: int, kept: Any, chosen: int, feedback: int, reward: float, late: bool) -> None:
        memo = np.zeros(self._size)
        memo[: self._memo_size] = kept
        point(self._rng, number, LEARN_LATE if late else LEARN)
        state, named = self._views(memo)
        update(self._rule, state, named, chosen, feedback, reward, 1.0, self._rng)


class Report(NamedTuple):
    """What is reported when: an outcome, perhaps with what was taken, or what was taken alone, later."""

    day: float
    patient: int
    late: bool


class Patient(NamedTuple):
    """What is known of a patient, by whoever knows all."""

    chosen: int
    shares: list[float]
    memo: Any
    heard: Heard
    seen: int  # reports before the decision


class PlainTrial:
    """A trial that is played once."""

    def __init__(self, design: Design, population: Population, seed: int, run: int) -> None:
        assert design.n_patients is not None
        self.design, self.n_arms = design, len(design.arms)
        self.world, self.policy = World(design, seed, run), PlainPolicy(design, population, seed, run)
        self.drawn = population.patients(seed, run, design.n_patients)
        self.rules, self.burn_in = look_rules(design), burn_in_of(design)
        self.patients: list[Patient] = []
        self.reports: list[Report] = []  # under way
        self.known: list[Report] = []
        self.blocks: dict[str, PermutedBlocks] = {}
        self.status = np.full(self.n_arms, ACTIVE)
        self.values = np.full(self.n_arms * N_VALUES, np.nan)
        self.status_at = [-1] * self.n_arms
        self.decision, self.n_looks, self.looked_on, self.look = GO_ON, 0, 0.0, 0
        self.frozen: list[float] = []
        self.taken, self.reward = [0] * self.n_arms, 0.0
        alpha = design.stopping.alpha if design.stopping is not None else None
        self.level = 1.0 - (alpha or 0.05)

    def play(self) -> PlainTrial:
        counts, days, n_looks = look_counts(self.design), look_days(self.design), planned_looks(self.design)
        n_patients, day = self.design.n_patients or 0, 0.0
        coming = self.world.day(0, 0.0)
        self.freeze()
        while self.decision == GO_ON:
            recommends = len(self.patients) < n_patients
            events: list[tuple[float, int]] = [(coming, 0)] if recommends else []
            events += [(min(self.reports).day, 1)] if self.reports else []
            if not events:
                self.look_at(n_looks - 1, day)
                break
            events += [(days[self.look], 2)] if self.look < len(days) else []
            day, what = min(events)
            if what == 0:
                self.recommend(day)
                if len(self.patients) < n_patients:
                    coming = self.world.day(len(self.patients), day)
            elif what == 1:
                outcomes = self.n_outcomes()
                self.hear(learns=True)
                if not days and self.look < n_looks - 1 and outcomes < self.n_outcomes() == counts[self.look]:
                    self.look_at(self.look, day)
            else:
                self.look_at(self.look, day)
        while self.reports:
            self.hear(learns=False)
        return self

    def n_outcomes(self) -> int:
        return sum(not report.late for report in self.known)

    def freeze(self) -> None:
        if self.design.update == "at looks":
            number = max(len(self.patients), self.burn_in.patients)
            self.frozen = self.probabilities_left(number)

    def probabilities_left(self, number: int) -> list[float]:
        """The policy's, of the arms left; a floor, which mixes, holds for those."""
        if all(self.status == ACTIVE) or number < self.burn_in.patients:
            return self.left_of(self.policy.probabilities(number))
        own = self.left_of(self.policy.probabilities(number, inside=True))
        minima = [self.policy.floor if one == ACTIVE else 0.0 for one in self.status]
        return [least + (1.0 - sum(minima)) * one for least, one in zip(minima, own, strict=True)]

    def left_of(self, shares: list[float]) -> list[float]:
        left = [share if self.status[arm] == ACTIVE else 0.0 for arm, share in enumerate(shares)]
        total = sum(left)
        if total < NOTHING:
            left = [float(self.status[arm] == ACTIVE) for arm in range(self.n_arms)]
            total = sum(left)
        return [share / total for share in left]

    def shares(self, number: int, stratum: str | None) -> list[float] | None:
        if stratum is not None and number < self.burn_in.patients:
            blocks = self.blocks.setdefault(stratum, PermutedBlocks(self.n_arms, self.burn_in.lengths))
            return self.left_of([float(share) for share in blocks.shares()])
        if self.design.update == "at looks" and number >= self.burn_in.patients:
            return self.frozen
        if any(self.status != ACTIVE):
            return self.probabilities_left(number)
        return None

    def recommend(self, day: float) -> None:
        number, stratum = len(self.patients), self.world.stratum(len(self.patients))
        prescribed = self.shares(number, stratum)
        stated = prescribed or self.policy.probabilities(number)
        chosen, memo = self.policy.choose(number, prescribed)
        if stratum is not None and number < self.burn_in.patients:
            self.blocks[stratum].add(chosen)
        actual, reward = int(self.drawn.actual[number, chosen]), float(self.drawn.reward[number, chosen])
        heard = self.world.heard(number, day, stratum, chosen, actual, reward)
        self.taken[actual] += 1
        self.reward += reward
        if heard.due is not None:
            self.reports.append(Report(heard.due, number, late=False))
            if heard.taken_due is not None and heard.taken_due > heard.due:
                self.reports.append(Report(heard.taken_due, number, late=True))
        self.patients.append(Patient(chosen, stated, memo, heard, len(self.known)))

    def hear(self, learns: bool) -> None:
        report = min(self.reports)
        self.reports.remove(report)
        self.known.append(report)
        patient, k = self.patients[report.patient], self.n_arms
        heard = patient.heard
        taken = heard.taken if report.late or heard.taken_due == heard.due else None
        if taken is not None and taken < 0 and not self.policy.sees_both:
            taken = None
        if taken is None:
            if report.late:
                return
            feedback = k
        elif report.late:
            feedback = k + 1 + taken if taken >= 0 else 2 * k - taken
        else:
            feedback = taken if taken >= 0 else taken - 1
        if learns:
            self.policy.learn(report.patient, patient.memo, patient.chosen, feedback, heard.reward, report.late)

    def outcomes_of(self, arm: int) -> list[float]:
        told = [self.patients[report.patient] for report in self.known if not report.late]
        return [one.heard.reward for one in told if one.chosen == arm]

    def look_at(self, look: int, day: float) -> None:
        outcomes = [np.array(self.outcomes_of(arm)) for arm in range(self.n_arms)]
        wealth = [self.wealth(arm, 0.0, self.level, by_taken=False) for arm in range(self.n_arms)]
        evidence = Evidence(
            np.array([float(one.size) for one in outcomes]),
            np.array([one.sum() for one in outcomes]),
            np.array([(one**2).sum() for one in outcomes]),
            np.array(self.policy.probabilities(len(self.patients), inside=True)),
            np.array([up for up, _ in wealth]),
            np.array([down for _, down in wealth]),
            np.zeros(work_size(self.n_arms)),
        )
        before = self.status.copy()
        self.decision = judge(self.rules, look, evidence, self.status, self.values)
        for arm in np.flatnonzero(self.status != before):
            self.status_at[arm] = look
        self.n_looks, self.looked_on, self.look = self.n_looks + 1, day, look + 1
        if self.decision == GO_ON:
            self.freeze()

    def wealth(self, arm: int, theta: float, level: float, by_taken: bool) -> tuple[float, float]:
        """The most that each bet on an arm against the control ever had, as logarithms."""
        so_far = log_wealth(self.decisions(arm, by_taken), theta, level)
        return max([0.0, *(up for up, _ in so_far)]), max([0.0, *(down for _, down in so_far)])

    def decisions(self, arm: int, by_taken: bool) -> list[Decision]:
        control = max(self.rules.control, 0)
        known_at: dict[int, int] = {}
        for place, report in enumerate(self.known, start=1):
            heard = self.patients[report.patient].heard
            if not by_taken:
                known_at.setdefault(report.patient, place)
            elif heard.taken is not None and (report.late or heard.taken_due == heard.due):
                known_at[report.patient] = place
        has_reward = {report.patient for report in self.known}
        found = []
        for number, one in enumerate(self.patients):
            if one.chosen in (arm, control):
                is_treatment = one.chosen == arm
                taken = float(one.heard.taken == arm) if by_taken else float(is_treatment)
                found.append(
                    Decision(
                        is_treatment,
                        one.shares[arm],
                        one.shares[control],
                        one.heard.reward if number in has_reward else None,
                        taken if not by_taken or number in known_at else None,
                        known_at.get(number, math.inf),
                        one.seen,
                    )
                )
        return found
