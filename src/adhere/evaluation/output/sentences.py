"""Sentences of a report on designs: errors, power, sizes, patients' benefit and estimates."""

from collections.abc import Callable, Sequence

from adhere.design.design import Design
from adhere.design.planned_looks import planned_looks
from adhere.design.words import as_assigned, randomises
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.evaluation_data import EvaluationData
from adhere.evaluation.outcomes import METHODS, VIEWS
from adhere.evaluation.output.grid_figures import CLAIMS
from adhere.evaluation.output.rows import is_known, percent
from adhere.intervals import Estimate
from adhere.report.numbers import counted

_EVIDENCE = {
    "posterior": "posterior probabilities of the arms recommended",
    "belief": "what the policy itself believes",
    "z-test": "a z-test of the arms recommended",
    "wealth": "the wealth of bets against no effect",
}
_ALIKE = 0.005  # type I errors closer than this count as equal
_NO_ERRORS = "No type I error is possible: in every scenario each arm that could be claimed to differ does differ."
_NO_POWER = "In no scenario is there a difference that a trial could claim: no power."
_NO_CLAIMS = "No design has a stopping rule: its trials claim nothing."


def in_its_words(evaluation: EvaluationData, text: str) -> str:
    """Replace "recommended" by "assigned" if all designs randomise every patient.

    If a name contains the word, the text is unchanged, so that names stay intact.
    """
    named = " ".join([*(one.name for one in evaluation.scenarios), *(one.to_json() for one in evaluation.designs)])
    if "recommend" in named.lower() or not all(map(randomises, evaluation.designs)):
        return text
    return as_assigned(text)


def headline(design: Design) -> str:
    """Return a design in one sentence: arms, patients, policy, looks and stopping method."""
    arms = ", ".join(f"{arm} (control)" if arm == design.control != "control" else arm for arm in design.arms)
    patients = "" if design.n_patients is None else f", up to {counted(design.n_patients, 'patient')}"
    looks = counted(planned_looks(design), "look")
    by = f"{looks}, decided by {_EVIDENCE[design.stopping.by]}" if design.stopping else "no look decides anything"
    return f"Arms {arms}{patients}; allocation by {design.policy}; {by}."


def designs_result(evaluation: EvaluationData) -> str:
    """Return the design in a sentence, or the names of several designs."""
    if len(evaluation.designs) == 1:
        return headline(evaluation.designs[0])
    first, *others = [design.name for design in evaluation.designs]
    return f"{first}, and to compare with it: {'; '.join(others)}."


def decided_by(design: Design) -> str:
    """Return the evidence by which looks decide, in words."""
    return _EVIDENCE[design.stopping.by] if design.stopping else "nothing"


def lead(evaluation: EvaluationData) -> str:
    """Return the subject of the report, in one or two sentences."""
    each = f"{counted(evaluation.n_trials, 'simulated trial')} in {every_scenario(evaluation)}"
    if len(evaluation.designs) == 1:
        return f"How trials of this design would behave, by {each}. {headline(evaluation.designs[0])}"
    names = "; ".join(design.name for design in evaluation.designs)
    return f"How trials of {len(evaluation.designs)} designs would behave, by {each} with the same patients: {names}."


def every_scenario(evaluation: EvaluationData) -> str:
    """Return the number of scenarios as text."""
    n = len(evaluation.scenarios)
    return "one scenario" if n == 1 else f"each of {n:,} scenarios"


def errors_result(evaluation: EvaluationData) -> str:
    """Return a sentence with the largest type I error of each design and its scenario."""
    if not (said := _largest(evaluation, "type_one")):
        return _NO_CLAIMS if _claims_nothing(evaluation) else _NO_ERRORS
    return f"The largest type I error{_among(evaluation, 'type_one')}: {said}."


def _among(evaluation: EvaluationData, name: str) -> str:
    """Return the number of scenarios compared as text, or an empty text if it differs between designs."""
    counts = {len(_known(rows, name)) for rows in _by_design(evaluation).values()}
    return f" of {max(counts)} scenarios" if len(counts) == 1 and max(counts) > 1 else ""


def wrong_claims_result(evaluation: EvaluationData) -> str:
    """Return a sentence with each design's largest probability of a wrong claim; empty if there is none."""
    said = _largest(evaluation, "wrong_claim")
    return f"The largest probability of a claim in the wrong direction: {said}." if said else ""


def fairness_result(evaluation: EvaluationData) -> str:
    """Return a warning if the designs' type I errors are too different to compare their power."""
    by_design = [_known(rows, "type_one") for rows in _by_design(evaluation).values()]
    errors = [max(map(_mean, known)) for known in by_design if known]
    if len(errors) < 2 or max(errors) - min(errors) < _ALIKE:
        return ""
    return (
        f"The designs' largest type I errors go from {min(errors):.1%} to {max(errors):.1%}: a part of any "
        "difference in power may come from that. Calibrate them to the same error to compare their power."
    )


def power_result(evaluation: EvaluationData) -> str:
    """Return a sentence with the range of power over scenarios."""

    def ends(rows: Sequence[Characteristics]) -> str:
        known = _known(rows, "power")
        if len(known) < 2:
            return _where(known[0]) if known else ""
        return f"from {_where(min(known, key=_mean))} to {_where(max(known, key=_mean))}"

    if said := _each_design(evaluation, ends):
        return f"Power: {said}."
    return _NO_CLAIMS if _claims_nothing(evaluation) else _NO_POWER


def size_result(evaluation: EvaluationData) -> str:
    """Return a sentence with the range of mean sizes over scenarios."""

    def ends(rows: Sequence[Characteristics]) -> str:
        sizes = [one.mean for row in rows if (one := row.number("sample_size")) is not None]
        low, high = f"{min(sizes):,.0f}", f"{max(sizes):,.0f}"
        return f"{low} patients" if low == high else f"{low} to {high} patients"

    said = _each_design(evaluation, ends)
    by_scenario = ", depending on the scenario" if " to " in said else ""
    return f"On average a trial takes {said}{by_scenario}."


def benefit_result(evaluation: EvaluationData) -> str:
    """Return a sentence with the share of patients recommended a worse arm, compared with equal shares."""

    def ends(rows: Sequence[Characteristics]) -> str:
        known = [
            one
            for row in rows
            if row.scenario.null is None and (one := row.number("recommended_inferior")) is not None
        ]
        shares = [f"{end(one.mean for one in known):.1%}" for end in (min, max)] if known else []
        return " to ".join(dict.fromkeys(shares))

    if not (said := _each_design(evaluation, ends)):
        return "In no scenario is one arm worse than another."
    equal = 1.0 - 1.0 / len(evaluation.designs[0].arms)
    return f"Patients who are recommended a worse arm: {said}; with equal shares up to {equal:.0%}."


def estimates_result(evaluation: EvaluationData) -> str:
    """Return a sentence with the lowest coverage of each method."""
    said = []
    for method in METHODS:
        found = [
            (one, row, estimand)
            for row in evaluation.results
            for estimand in VIEWS
            if estimand in row.design.estimands
            for arm in row.others
            if (one := row.number("coverage", arm, estimand, method)) is not None and is_known(one)
        ]
        if found:
            one, row, estimand = min(found, key=lambda each: each[0].mean)
            whose = f"{row.design.name}, " if len(evaluation.designs) > 1 else ""
            said.append(f"of {method} ones {percent(one)} ({whose}{estimand}, {row.scenario.name})")
    return f"The lowest coverage of 95% intervals: {'; '.join(said)}." if said else "No effects were estimated."


def precision(evaluation: EvaluationData) -> str:
    """Return a sentence with the Monte Carlo precision of probabilities."""
    found = [row.number(name) for row in evaluation.results for name in CLAIMS]
    largest = max((one.se for one in found if one is not None and one.se is not None), default=None)
    n = counted(evaluation.n_trials, "trial")
    if largest is None:
        return f"{n} in each scenario."
    return f"With {n} in each scenario, errors and power have a standard error of at most {100 * largest:.2g} points."


def _claims_nothing(evaluation: EvaluationData) -> bool:
    return all(design.stopping is None for design in evaluation.designs)


def _by_design(evaluation: EvaluationData) -> dict[str, Sequence[Characteristics]]:
    rows, n_designs = evaluation.results, len(evaluation.designs)
    return {rows[number].design.name: rows[number::n_designs] for number in range(n_designs)}


def _each_design(evaluation: EvaluationData, say: Callable[[Sequence[Characteristics]], str]) -> str:
    """Join the texts of the designs, each after the design's name if there are several."""
    said = {label: text for label, rows in _by_design(evaluation).items() if (text := say(rows))}
    return "; ".join(said.values() if len(evaluation.designs) == 1 else (f"{one}: {said[one]}" for one in said))


def _largest(evaluation: EvaluationData, name: str) -> str:
    """Return the largest value of a characteristic for each design, with its scenario."""

    def largest(rows: Sequence[Characteristics]) -> str:
        known = _known(rows, name)
        return _where(max(known, key=_mean)) if known else ""

    return _each_design(evaluation, largest)


def _known(rows: Sequence[Characteristics], name: str) -> list[tuple[Estimate, Characteristics]]:
    return [(one, row) for row in rows if (one := row.number(name)) is not None and is_known(one)]


def _mean(known: tuple[Estimate, Characteristics]) -> float:
    return known[0].mean


def _where(known: tuple[Estimate, Characteristics]) -> str:
    return f"{percent(known[0])} ({known[1].scenario.name})"
