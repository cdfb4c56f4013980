"""The kinds of sentences that an analysis prints, and whether the truth contradicts them."""

import re
import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import NamedTuple

from adhere.analysis.analysis import Analysis
from adhere.studies.coverage.synthetic.trials import AT_RANDOM, Trial

_INTERVAL = re.compile(
    r"(?P<treatment>\w+) against (?P<control>\w+) (?:from )?[+-]?[\d.]+(?: to [+-]?[\d.]+)?"
    r"(?: \(with sampling error)? \[(?P<low>-?[\d.]+|-∞), (?P<high>-?[\d.]+|∞)\]"
)
_ROUNDING = 0.0005
UNKNOWN_SENTENCE = "sentence without a kind"

Check = Callable[[str, Trial], bool]


class Claim(NamedTuple):
    """A printed sentence: its kind, whether it is wrong, and how often chance may make it wrong (0: never)."""

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
    """Yield every sentence of the verdict, the warnings and the notes to tables, with its kind."""
    said = [*analysis.verdict, *analysis.warnings, analysis.mediation.sentence, analysis.bounds.inequality.sentence]
    said += [analysis.allocation.sentence] if analysis.allocation else []
    for sentence in dict.fromkeys(said):
        rules = [rule for rule in _RULES if rule.pattern.search(sentence)]
        if not rules:
            yield Claim(f"{UNKNOWN_SENTENCE}: {sentence}", True, 0.0)
        for rule in rules:
            broken = rule.assumes & trial.breaks
            if "any-time valid" in sentence:  # missing outcomes enter with their worst case
                broken -= {AT_RANDOM}
            if broken:
                yield Claim(f"{rule.kind} ≠ {', '.join(sorted(broken))}", rule.wrong(sentence, trial), 1.0)
            else:
                yield Claim(rule.kind, rule.wrong(sentence, trial), rule.level)


def _mediated_arm(sentence: str, trial: Trial) -> bool:
    arm = re.search(r"who took (\w+) fared differently", sentence)
    assert arm is not None
    return trial.spread_given(trial.arms.index(arm[1])) < 1e-9


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
    treated, untreated = (trial.complier_mean(treatment, control, arm) for arm in (treatment, control))
    return None if treated is None or untreated is None else treated - untreated


_CHECKS: dict[str, Check] = {
    "": lambda _, trial: False,
    "always": lambda _, trial: (
        True
    ),  # every log is right, every effect constant, and assignment acts only through the arm taken
    "mediated": lambda _, trial: trial.is_mediated,
    # People who took different arms are comparable, including those who came early and late.
    "comparable": lambda _, trial: trial.is_mediated and not (trial.drift and trial.allocation.learns),
    "arm mediated": _mediated_arm,
    "not alike": lambda _, trial: any(trial.spread_given(arm) > 0.05 for arm in range(len(trial.arms))),
    "same effect": _same_effect,
    "allocates alike": lambda _, trial: not trial.allocates_by_stratum,
    "nothing missing": lambda _, trial: not trial.has_missing,
    "no drift": lambda _, trial: not trial.drift,
    "some do not comply": lambda _, trial: not trial.complies,
    "no defiers": lambda _, trial: not trial.has_defiers,
    "outside assigned": _outside(_assigned),
    "outside everybody": _outside(_everybody),
    "outside compliers": _outside(_compliers),
}


def _read() -> Iterator[_Rule]:
    """Yield the rules of `rules.toml`."""
    for given in tomllib.loads(files(__package__).joinpath("rules.toml").read_text("utf-8"))["rule"]:
        check, assumes = _CHECKS[given.get("wrong", "")], frozenset(given.get("assumes", ()))
        yield _Rule(given["kind"], re.compile(given["pattern"]), check, given.get("level", 0.0), assumes)


_RULES = tuple(_read())
