"""Explanations in a report on designs: texts of sections, fields of designs, and glossary."""

import re
from typing import Any

from adhere.design.design import Design, plain
from adhere.evaluation.evaluation_data import EvaluationData
from adhere.evaluation.output.sentences import precision
from adhere.report.numbers import counted
from adhere.report.page import GLOSSARY

_FIELD = re.compile(r"(title|question|result|uncertainty): (.*)")


def section_prose(evaluation: EvaluationData) -> dict[str, dict[str, Any]]:
    """Return the texts of each section: its question, and the definitions of its quantities.

    Definitions are on the scale shown in the section: an outcome y, or 1 − y.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("adhere.evaluation.output", ""),
        autoescape=False,  # plain text: the page escapes it
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    outcomes = sorted({value for one in evaluation.scenarios for value in one.population.reward_values})
    text = environment.get_template("section_prose.txt").render(
        lower=evaluation.designs[0].lower_is_better,
        outcomes=[f"{value:g}" for value in outcomes],
        is_binary=set(outcomes) <= {0.0, 1.0},
        has_stopping=any(design.stopping for design in evaluation.designs),
        n_trials=counted(evaluation.n_trials, "simulated trial"),
        precision=precision(evaluation),
        seed=evaluation.seed,
    )
    found: dict[str, dict[str, Any]] = {}
    _, *parts = re.split(r"^\[(\w+)\]$", text, flags=re.MULTILINE)
    for section, words in zip(parts[::2], parts[1::2], strict=True):
        found[section] = {"details": []}
        for paragraph in re.split(r"\n\n+", words.strip()):
            line = " ".join(paragraph.split())
            if (field := _FIELD.fullmatch(line)) is not None:
                found[section][field[1]] = field[2]
            else:
                found[section]["details"].append(line)
    return found


WORDS = {
    **{word: GLOSSARY[word] for word in ("arm", "policy", "population", "floor")},
    "burn-in": "The first patients, randomised in permuted blocks.",
    "look": "A moment at which the outcomes so far are judged, and the trial may stop or drop an arm.",
    "scenario": "Who takes what, and how they fare: a truth that simulated trials meet.",
    "compliers": "Patients who take what is recommended to them.",
    "confounding": "Those who take an arm whatever is recommended would have fared differently anyway.",
    "sharp null": "Nobody's outcome depends on what is taken.",
    "average null": "Outcomes may depend on what is taken, but on average not on what is recommended.",
    "type I error": "The probability of claiming a difference where there is none.",
    "power": "The probability of claiming a difference that is there, in its direction.",
    "intention-to-treat": "By the arm recommended, whatever was taken.",
    "coverage": "The share of trials whose interval holds the true effect.",
    "RMSE": "Root mean squared error of an estimate.",
    "surplus": "Expected good outcomes above equal shares of the arms, summed over a trial's patients.",
    "Monte Carlo standard error": "The standard deviation that a simulated number has over simulations with other "
    "seeds, because they have finitely many trials.",
    "95% interval": "Of a simulated number: by Wilson for probabilities, else the mean ± 1.96 standard errors.",
}


def design_fields(design: Design) -> list[list[str]]:
    """Return the fields that differ from their defaults, with the names they have in a design's file."""
    return [[name, text] for name, text in _flat("", plain(design))]


def _flat(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [pair for key, one in value.items() for pair in _flat(f"{name}.{key}" if name else key, one)]
    if isinstance(value, (list, tuple)):
        return [(name, ", ".join(map(str, value)))]
    return [(name, ("no", "yes")[value] if isinstance(value, bool) else str(value))]
