"""Notes for the foot of the tables, each said once; methods with their references; and the words used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from adhere.analysis.output.effect_rows import NO_ESTIMAND
from adhere.analysis.output.tables import STARRED
from adhere.analysis.output.to_json import plain
from adhere.analysis.texts import sentence, unique
from adhere.analysis.trust.withheld import WITHHELD

if TYPE_CHECKING:
    from adhere.analysis.adaptive.aipw import AipwEstimate
    from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
    from adhere.analysis.estimates import Comparison, Quantity
    from adhere.analysis.findings import Findings

    _Noted = Comparison | ConfidenceSequence | AipwEstimate

_STAR = f"{STARRED} {NO_ESTIMAND}: those who do as they are told may differ from those who do not."
_MAX_ALIKE = 3  # notes that differ in the names of arms alone
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z0-9])")


def notes_of(analysis: Findings) -> list[str]:
    """The notes of all parts; what is said of some views or pairs of arms only names them."""
    parts: dict[str, Iterable[_Noted]] = {
        "": analysis.effects.comparisons,
        "confidence sequence": analysis.sequences,
        "AIPW": analysis.aipw,
    }
    said = [sentence(analysis.arm_order)] if analysis.arm_order else []
    said += [_STAR, *(note for part, found in parts.items() for note in _of_pairs(part, found))]
    said += [*analysis.effects.notes, *analysis.bounds.notes, *analysis.flow.notes]
    said += [analysis.why_no_sequences] * (not analysis.fixed_allocation)
    said += [sentence(one.reason) for one in analysis.randomisation if one.reason]
    said += [analysis.strata.note, *_reasons(analysis)]
    known = {*analysis.warnings, *analysis.verdict, analysis.strata.reason}
    each = [one for one in unique(said) if one not in known]
    each = [one for one in each if not any(one in other and one != other for other in each)]
    return list(_folded(each, analysis.arms))


def _folded(notes: Sequence[str], arms: Sequence[str]) -> Iterator[str]:
    """Of notes that are alike but for names of arms and numbers, the first few, and how many more there are."""
    names = "|".join(sorted(map(re.escape, arms), key=len, reverse=True))
    varying = re.compile(rf"(?<!\w)(?:{names}|\d[\d,.%]*)(?!\w)")
    alike: dict[str, list[str]] = {}
    for one in notes:
        alike.setdefault(varying.sub("", one), []).append(one)
    for group in alike.values():
        yield from group[:_MAX_ALIKE]
        if len(group) > _MAX_ALIKE:
            yield f"{len(group) - _MAX_ALIKE} more notes like the last; the JSON has them all."


def _of_pairs(part: str, found: Iterable[_Noted]) -> Iterator[str]:
    """Sentences by whom they hold for, those of the same together: all, the views, or single pairs of them."""
    whose: dict[str, list[tuple[str, str]]] = {}
    every: dict[str, list[str]] = {}
    for one in found:
        pair = f"{one.treatment} against {one.control}"
        every.setdefault(one.view.value, []).append(pair)
        for text in _BETWEEN_SENTENCES.split(" ".join(one.note.split())):
            if text and text.rstrip(".") != NO_ESTIMAND:
                whose.setdefault(text, []).append((one.view.value, pair))
    together: dict[str, list[str]] = {}
    for text, labels in whose.items():
        together.setdefault(_named(part, labels, every), []).append(text)
    for name, texts in together.items():
        yield f"{name[:1].upper()}{name[1:]}: {' '.join(texts)}" if name else " ".join(texts)


def _named(part: str, labels: Sequence[tuple[str, str]], every: Mapping[str, Sequence[str]]) -> str:
    """Whom a sentence is about; a view all of whose pairs it is about stands for them."""
    names = []
    for view in dict.fromkeys(view for view, _ in labels):
        pairs = list(dict.fromkeys(pair for one, pair in labels if one == view))
        listed = ", ".join(pairs) if len(pairs) <= _MAX_ALIKE else f"{len(pairs)} pairs"
        names += [view if {*pairs} == {*every[view]} else f"{view} of {listed}"]
    if part and names == list(every):
        return part
    return "; ".join(f"{part}, {name}" if part else name for name in names)


def _reasons(analysis: Findings) -> list[str]:
    """Why numbers are missing from the tables."""
    quantities: list[Quantity] = [one.mean for one in analysis.effects.means]
    for one in analysis.effects.comparisons:
        quantities += [one.difference, one.ratio, one.number_needed]
    quantities += [one.compliance for one in analysis.flow.arms]
    quantities += [*analysis.strata.shares.values(), *analysis.strata.means.values()]
    quantities += [one.largest_difference for one in analysis.mediation.arms]
    quantities += [one.difference for one in analysis.aipw]
    found = [one.reason for one in quantities] + [one.reason for one in analysis.bounds.bounds]
    for other in analysis.missing.sensitivity.alternatives:
        reason = other.difference.reason
        is_said = reason in found or reason in WITHHELD or reason.startswith(other.assumption)
        found.append(reason if is_said or not reason else f"{other.assumption}: {reason}")
    return [sentence(reason) for reason in dict.fromkeys(found) if reason]


WORDS: Final = {
    "intention-to-treat": "Compares patients by what they were assigned, whatever they took.",
    "compliers": "Patients who take the treatment just when they are assigned to it.",
    "as-treated": "Compares patients by what they took. Whoever takes a treatment may differ from whoever does not.",
    "per-protocol": "Compares those who took what they were assigned; they may differ from arm to arm.",
    "bounds": "The smallest and the largest value that fit the data, whatever made people take what they took, if "
    "assignment acts only through what is taken.",
    "monotonicity": "Nobody takes an arm when told another one, but not when told it.",
    "confidence sequence": "A set after every patient, all of which hold the truth together with the stated "
    "probability: it may be looked at any time, and the trial stopped by it.",
    "any-time valid": "Holds whenever one stops, and for arms drawn by what was learned before.",
    "fixed-sample": "Holds for arms drawn with fixed probabilities, and one look at the end.",
    "asymptotic": "Holds in large samples, at one time fixed in advance.",
    "e-value": "What a bet against a hypothesis has won, per unit staked: 20 is as strong as p = 0.05, at any time.",
    "Bayes factor": "How much likelier the data are under one hypothesis than under the other. It stands with the "
    "one that it favours: that the outcome depends on what was assigned, given what was taken, or that it does not.",
    "number needed to treat": "How many are to be treated for one more to benefit, or to be harmed.",
    "principal stratum": "Patients alike in what they would take under each assignment.",
    "missing at random": "Whether an outcome is missing depends on the arm assigned, what was taken and the stratum "
    "alone, not on the outcome itself given these.",
    "complete cases": "Patients with all reports that a view needs, the others left out.",
    "worst-case bounds": "Effects with every missing value at its worst, and at its best, for the treatment.",
    "tipping point": "The mean that an arm's missing outcomes would need to have for the interval to touch 0, the "
    "other arm's missing at random.",
    "latent ignorability": "Whether an outcome is missing depends on the compliance type and on what was taken, not "
    "on the outcome itself given these; assignment changes no always-taker's nor never-taker's reporting.",
}

_FIRST = (
    "Estimands and strategies as in ICH E9(R1), Addendum on estimands and sensitivity analysis (2019); the flow as "
    "in CONSORT: Schulz, Altman and Moher (2010), BMJ 340, c332.",
)
# By what the method of some set is called.
_OF_SETS = {
    "Wilson": "Shares, and means of 0/1 outcomes: Wilson (1927), JASA 22, 209–212.",
    "Student": "Means of other outcomes: Student's interval.",
    "Miettinen": "Differences and ratios of two such means: the score interval of Miettinen and Nurminen (1985), "
    "Statistics in Medicine 4, 213–226.",
    "Newcombe": "Largest differences: Newcombe (1998), Statistics in Medicine 17, 873–890, method 10.",
    "Mantel": "Strata: differences and ratios with Mantel and Haenszel's weights, and the variance of the ratio, by "
    "Greenland and Robins (1985), Biometrics 41, 55–68; that of the difference by Sato (1989), Biometrics 45, "
    "1323–1324; the test by Cochran (1954), Biometrics 10, 417–451, and Mantel and Haenszel (1959), Journal of the "
    "National Cancer Institute 22, 719–748.",
    "weighted by patients": "Strata whose allocation differs: differences within strata, weighted by their numbers "
    "of patients (direct standardisation), with variances within strata and of the sizes of strata.",
    "Anderson": "Compliers: Angrist, Imbens and Rubin (1996), JASA 91, 444–455; the set by Fieller (1954), JRSS B "
    "16, 175–185, which is that of Anderson and Rubin (1949), Annals of Mathematical Statistics 20, 46–63: it stays "
    "right where few comply, and is unbounded where the data say nothing.",
    "linear program": "Bounds: Balke and Pearl (1997), JASA 92, 1171–1176, as a linear program for any number of "
    "arms; the instrumental inequality: Pearl (1995), UAI 11, 435–443.",
    "Clopper": "Limits of the bounds: the program within the simultaneous limits of Clopper and Pearson (1934), "
    "Biometrika 26, 404–413, on the shares of patients.",
    "Robbins": "Any-time limits on shares and means: Robbins (1970), Annals of Mathematical Statistics 41, "
    "1397–1409.",
    "betting": "Confidence sequences by betting: Waudby-Smith and Ramdas (2024), JRSS B 86, 1–27, on a score that "
    "stays bounded where an arm's probability is small.",
    "AIPW": "Adaptively weighted AIPW: Hadad, Hirshberg, Zhan, Wager and Athey (2021), PNAS 118, e2014602118.",
}
_AT_RANDOM = (
    "Missing outcomes: at random given the arm assigned, what was taken and the stratum (Rubin 1976, Biometrika 63, "
    "581–592); worst-case bounds by Horowitz and Manski (2000), JASA 95, 77–84; latent ignorability by Frangakis and "
    "Rubin (1999), Biometrika 86, 365–379."
)
_HOLM = "Several comparisons: Holm (1979), Scandinavian Journal of Statistics 6, 65–70."
_TRUST = (
    "Can what was taken be trusted: Bayes factors as in Kass and Raftery (1995), JASA 90, 773–795; e-values by "
    "universal inference: Wasserman, Ramdas and Balakrishnan (2020), PNAS 117, 16880–16890."
)
_REPLAY = "Randomisation test by replay: Simon and Simon (2011), Statistics and Probability Letters 81, 767–772."


def methods(analysis: Findings) -> list[str]:
    """A sentence with its reference for each method that this analysis used."""
    used = set(_methods(plain(replace(analysis, subgroups={}))))
    said = [*_FIRST, *(text for word, text in _OF_SETS.items() if any(word in method for method in used))]
    if any(analysis.missing.outcomes.values()):
        said.append(_AT_RANDOM)
    if any(one.adjusted for one in analysis.effects.comparisons):
        said.append(_HOLM)
    if analysis.mediation.log_e is not None:
        said.append(_TRUST)
    if any(one.p_value is not None for one in analysis.randomisation):
        said.append(_REPLAY)
    return said


def _methods(value: Any) -> Iterator[str]:
    """What the methods of all sets in a plain value are called."""
    if isinstance(value, dict):
        if "method" in value:
            yield value["method"]
        for one in value.values():
            yield from _methods(one)
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for one in value:
            yield from _methods(one)
