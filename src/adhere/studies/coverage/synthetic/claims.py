"""Kinds of sentences that an analysis prints, and whether the truth makes one wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from adhere.analysis.analysis import Analysis
from adhere.studies.coverage.synthetic.trials import AT_RANDOM, NO_DEFIERS, Trial

_INTERVAL = re.compile(
    r"(?P<treatment>\w+) against (?P<control>\w+) (?:from )?[+-]?[\d.]+(?: to [+-]?[\d.]+)?"
    r"(?: \(with sampling error)? \[(?P<low>-?[\d.]+|-∞), (?P<high>-?[\d.]+|∞)\]"
)
_ROUNDING = 0.0005
_TESTS, _INTERVALS = 0.05, 0.10  # wrong claims allowed: of a test, and by the bar of an interval marked 95%
UNKNOWN_SENTENCE = "sentence without a kind"

Check = Callable[[str, Trial], bool]


class Claim(NamedTuple):
    """A printed sentence: its kind, whether it is wrong, and the level at which it may be by chance (0: never)."""

    kind: str
    wrong: bool
    level: float


class _Rule(NamedTuple):
    kind: str
    pattern: re.Pattern[str]
    wrong: Check
    level: float
    assumes: frozenset[str]


def claims(analysis: Analysis, trial: Trial) -> Iterator[Claim]:
    """Every sentence of the verdict and the warnings, and those beside the tables, each by its kind."""
    said = [*analysis.verdict, *analysis.warnings, analysis.mediation.sentence, analysis.bounds.inequality.sentence]
    said += [analysis.allocation.sentence] if analysis.allocation else []
    for sentence in dict.fromkeys(said):
        rules = [rule for rule in _RULES if rule.pattern.search(sentence)]
        if not rules:
            yield Claim(f"{UNKNOWN_SENTENCE}: {sentence}", True, 0.0)
        for rule in rules:
            broken = rule.assumes & trial.breaks
            if "any-time valid" in sentence:  # where missing outcomes enter at their worst case
                broken -= {AT_RANDOM}
            if broken:
                yield Claim(f"{rule.kind} ≠ {', '.join(sorted(broken))}", rule.wrong(sentence, trial), 1.0)
            else:
                yield Claim(rule.kind, rule.wrong(sentence, trial), rule.level)


def _right(sentence: str, trial: Trial) -> bool:
    return False


def _no_fault_logged(sentence: str, trial: Trial) -> bool:
    return True  # every log here is right, every effect constant, and assignment acts through what is taken alone


def _mediated(sentence: str, trial: Trial) -> bool:
    return trial.is_mediated


def _comparable(sentence: str, trial: Trial) -> bool:
    """Whether those who took different arms are comparable: also those who came early and late."""
    return trial.is_mediated and not (trial.drift and trial.allocation.learns)


def _mediated_arm(sentence: str, trial: Trial) -> bool:
    arm = re.search(r"who took (\w+) fared differently", sentence)
    assert arm is not None
    return trial.spread_given(trial.arms.index(arm[1])) < 1e-9


def _not_alike(sentence: str, trial: Trial) -> bool:
    return any(trial.spread_given(arm) > 0.05 for arm in range(len(trial.arms)))


def _same_effect(sentence: str, trial: Trial) -> bool:
    pair = re.search(r"effect of (\w+) against (\w+) differs", sentence)
    assert pair is not None
    return not trial.differs_by_stratum(trial.arms.index(pair[1]), trial.arms.index(pair[2]))


def _outside(truth: Callable[[Trial, int, int], float | None]) -> Check:
    def check(sentence: str, trial: Trial) -> bool:
        wrong = False
        for found in _INTERVAL.finditer(sentence):
            pair = (trial.arms.index(found["treatment"]), trial.arms.index(found["control"]))
            true = truth(trial, *pair)
            if true is not None:
                low, high = (float(found[end].replace("∞", "inf")) for end in ("low", "high"))
                wrong |= not low - _ROUNDING <= true <= high + _ROUNDING
        return wrong

    return check


def _assigned(trial: Trial, treatment: int, control: int) -> float:
    return trial.mean_assigned(treatment) - trial.mean_assigned(control)


def _everybody(trial: Trial, treatment: int, control: int) -> float:
    return trial.mean_taken(treatment) - trial.mean_taken(control)


def _compliers(trial: Trial, treatment: int, control: int) -> float | None:
    means = [trial.complier_mean(treatment, control, arm) for arm in (treatment, control)]
    return None if means[0] is None or means[1] is None else means[0] - means[1]


def _rule(kind: str, pattern: str, wrong: Check = _right, level: float = 0.0, assumes: tuple[str, ...] = ()) -> _Rule:
    return _Rule(kind, re.compile(pattern), wrong, level, frozenset(assumes))


_RULES = (
    _rule(
        "intention-to-treat: the interval printed",
        "^Intention-to-treat is the view",
        _outside(_assigned),
        _INTERVALS,
        (AT_RANDOM,),
    ),
    _rule(
        "arms were not drawn as logged",
        "arms were not drawn as logged|^Arms were not drawn with the logged",
        _no_fault_logged,
        _TESTS,
    ),
    _rule("the interval holds if allocation was fixed", "^Its interval (holds if the prob|is approximate)"),
    _rule("no estimate by intention-to-treat", "^By this view there is no estimate|^Worst-case bounds say between"),
    _rule("the effect changed over time", "^The effect changed over time|^Drift:", _no_fault_logged, _TESTS),
    _rule("missing outcomes at their worst case", "^Missing and pending outcomes enter"),
    _rule("missing outcomes are left out", "^It leaves out patients"),
    _rule(
        "missing at random, or see beside it",
        "^Outcomes are missing. This view (and compliers take|takes)",
    ),
    _rule(
        "the allocation depends on the stratum",
        "^Read .* only: the allocation depends|^The shares assigned differ|^The probabilities of arms depend"
        "|^Withheld, as it mixes strata",
        lambda _, trial: not trial.allocates_by_stratum,
        _TESTS,
    ),
    _rule("loss depends on what was taken", "^Loss depends on", lambda _, trial: not trial.has_missing, _TESTS),
    _rule("the allocation may depend on the stratum", "^The shares assigned may differ"),
    _rule(
        "outcomes drifted",
        "^Outcomes changed over time|^Withheld, as outcomes drifted|: outcomes drifted over time",
        lambda _, trial: not trial.drift,
        _TESTS,
    ),
    _rule("the effect differs by stratum", "differs from stratum to stratum", _same_effect, _TESTS),
    _rule("all views agree", "all views agree", lambda _, trial: not trial.complies),
    _rule("exclusion is refuted", "[Dd]ata refute that assignment (acts|mattered) only", _no_fault_logged, _TESTS),
    _rule(
        "monotonicity is refuted",
        "refute that nobody does the opposite|refute monotonicity|there are (no )?defiers",
        lambda _, trial: not trial.has_defiers,
        _TESTS,
    ),
    _rule("no effect among compliers to read", "there is no effect among compliers|^There is no effect among"),
    _rule("compliers: not known at all", "is not known at all"),
    _rule(
        "compliers: the interval printed",
        "^The effect among compliers .* can be read if",
        _outside(_compliers),
        _INTERVALS,
        (NO_DEFIERS, AT_RANDOM),
    ),
    _rule("what was taken cannot be tested", "^Do not rely on as-treated|^No arm was taken by"),
    _rule(
        "alike within the margin",
        "fared alike whatever they were assigned|by less than the margin",
        _not_alike,
        _TESTS,
    ),
    _rule("do not read as-treated", "^Do not read as-treated", _comparable, _TESTS),
    _rule("fared differently by the arm assigned", "fared differently depending", _mediated_arm, _TESTS),
    _rule("taking is related to outcomes", "^Who takes what is related", _comparable, _TESTS),
    _rule(
        "the outcome depends on the arm assigned",
        "^Refuted|^In this sample the outcome depends",
        _mediated,
        _TESTS,
    ),
    _rule("as-treated not decided", "^Whether as-treated|^Not decided"),
    _rule("bounds: the limits printed", "^For the effect if everybody took", _outside(_everybody), _INTERVALS),
    _rule("warning: how allocation matters", "^The records do not say|^The allocation was adaptive"),
    _rule("warning: missing outcomes", "of outcomes are missing|^Outcomes are missing for|outcomes are known"),
    _rule("as-treated intervals do not hold", "^The intervals of as-treated are fixed-sample"),
    _rule(
        "exclusion is not refuted",
        "^The data do not refute that assignment|^The observed shares contradict .* by no more than chance",
    ),
    _rule("nothing against the log", "^No evidence against the log|nothing to check"),
)
