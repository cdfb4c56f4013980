"""Notes below the tables, each printed once; methods with their references; and the glossary."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from adhere.analysis.adaptive.aipw import AipwEstimate
from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.estimates import Comparison, Quantity
from adhere.analysis.findings import Findings
from adhere.analysis.fixed_sample.effects import NO_ESTIMAND
from adhere.analysis.formatting import sentence, unique
from adhere.analysis.output.tables import STARRED
from adhere.analysis.output.to_json import plain
from adhere.analysis.sentences import texts
from adhere.analysis.trust.withheld import WITHHELD

_Noted = Comparison | ConfidenceSequence | AipwEstimate
_TEXTS: Final = texts("output/words.toml")
WORDS: Final[dict[str, str]] = _TEXTS["words"]
_STAR = f"{STARRED} {NO_ESTIMAND}: those who do as they are told may differ from those who do not."
_MAX_ALIKE = 3  # maximum number of notes that differ only in the names of arms
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z0-9])")


def notes_of(analysis: Findings) -> list[str]:
    """Return the notes of all parts; a note on only some views or pairs of arms starts with their names."""
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
    """Shorten each group of notes that differ only in arm names and numbers to a few and a count of the rest."""
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
    """Group sentences by the views or pairs of arms that they are about, and put these names first."""
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
    for name, sentences in together.items():
        yield f"{name[:1].upper()}{name[1:]}: {' '.join(sentences)}" if name else " ".join(sentences)


def _named(part: str, labels: Sequence[tuple[str, str]], every: Mapping[str, Sequence[str]]) -> str:
    """Return the views and pairs that a sentence is about; a view without pairs means all of its pairs."""
    names = []
    for view in dict.fromkeys(view for view, _ in labels):
        pairs = list(dict.fromkeys(pair for one, pair in labels if one == view))
        listed = ", ".join(pairs) if len(pairs) <= _MAX_ALIKE else f"{len(pairs)} pairs"
        names += [view if {*pairs} == {*every[view]} else f"{view} of {listed}"]
    if part and names == list(every):
        return part
    return "; ".join(f"{part}, {name}" if part else name for name in names)


def _reasons(analysis: Findings) -> list[str]:
    """Return the reasons why numbers are missing from the tables."""
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


def methods(analysis: Findings) -> list[str]:
    """Return a sentence with its reference for each method that this analysis used."""
    used, said = set(_methods(plain(replace(analysis, subgroups={})))), _TEXTS["methods"]
    parts = {
        "missing": any(analysis.missing.outcomes.values()),
        "comparisons": any(one.adjusted for one in analysis.effects.comparisons),
        "taken": analysis.mediation.log_e is not None,
        "replay": any(one.p_value is not None for one in analysis.randomisation),
    }
    of_sets = [text for word, text in _TEXTS["sets"].items() if any(word in method for method in used)]
    return [said["first"], *of_sets, *(said[name] for name, is_there in parts.items() if is_there)]


def _methods(value: Any) -> Iterator[str]:
    """Iterate over the names of the methods of all confidence sets in a plain value."""
    if isinstance(value, dict):
        if "method" in value:
            yield value["method"]
        for one in value.values():
            yield from _methods(one)
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for one in value:
            yield from _methods(one)
