"""Formatting of numbers: estimates with their sets, numbers needed to treat, p-values and e-values."""

import math
from collections.abc import Collection, Sequence

from adhere.analysis.estimates import ConfidenceSet, Quantity, Shape, Validity

NO_DIFFERENCE = "the estimated difference is 0: no number of patients is enough"
UNKNOWN = "–"  # in place of a missing number; a sentence says why
ASSUMPTIONS = {"none": "without monotonicity", "monotonicity": "with monotonicity"}  # assumptions of bounds, in words
_INFINITE = "∞"
_MAX_PATIENTS = 1e9  # largest number needed to treat that is written out


def signed(value: float) -> str:
    """Format a difference with its sign.

    >>> signed(0.0312), signed(-0.00001)
    ('+0.031', '0.000')
    """
    return "0.000" if abs(value) < 0.0005 else f"{value:+.3f}"


def set_text(found: ConfidenceSet | None) -> str:
    """Format a set; for an empty confidence sequence, explain what that means.

    >>> set_text(ConfidenceSet(1.0, -1.0, "betting", Validity.ANY_TIME, Shape.EMPTY))
    'empty: no constant effect fits'
    """
    if found is not None and found.shape is Shape.EMPTY and found.validity is Validity.ANY_TIME:
        return "empty: no constant effect fits"
    return UNKNOWN if found is None else str(found)


def estimate(value: float | None, found: ConfidenceSet | None, *, sign: bool = False) -> str:
    """Format an estimate and its set.

    >>> estimate(0.2, ConfidenceSet(0.1, 0.3, "Wilson"))
    '0.200 [0.100, 0.300]'
    """
    number = UNKNOWN if value is None else signed(value) if sign else f"{value:z.3f}"
    if found is None:
        return number
    return f"{number} {found}" if str(found).startswith("[") else f"{number}, {set_text(found)}"


def quantity(one: Quantity, *, sign: bool = False) -> str:
    """Format a quantity with the set to trust, or the reason if there is none."""
    if one.value is None and not one.sets:
        return f"{UNKNOWN} ({one.reason})" if one.reason else UNKNOWN
    return estimate(one.value, one.sets[0] if one.sets else None, sign=sign)


def percent(one: Quantity) -> str:
    """Format a share with its interval, in percent.

    >>> percent(Quantity(0.5, (ConfidenceSet(0.4, 0.6, "Wilson"),)))
    '50.0% [40.0, 60.0]'
    """
    if one.value is None:
        return UNKNOWN
    ends = f" [{100 * one.sets[0].low:z.1f}, {100 * one.sets[0].high:z.1f}]" if one.sets else ""
    return f"{100 * one.value:z.1f}%{ends}"


def needed(one: Quantity) -> str:
    """Format a number needed to treat.

    If the effect may be 0, the numbers for benefit and for harm both extend to infinity.

    >>> needed(Quantity(20.0, (ConfidenceSet(-40.0, 12.0, "Newcombe", shape=Shape.OUTSIDE),)))
    'benefit 20 (12 to ∞, harm 40 to ∞)'
    >>> needed(Quantity(-20.0, (ConfidenceSet(-40.0, -12.5, "Newcombe"),)))
    'harm 20 (13 to 40)'
    """
    if one.value is None and one.reason != NO_DIFFERENCE:
        return UNKNOWN
    said = "no difference" if one.value is None or math.isinf(one.value) else _way(one.value, one.value)
    if not one.sets:
        return said
    word, _, _ = said.partition(" ")
    return f"{said} ({_needed_set(one.sets[0]).removeprefix(f'{word} ')})"


def _needed_set(found: ConfidenceSet) -> str:
    if found.shape is Shape.EMPTY:
        return "empty"
    if found.shape is Shape.EVERYTHING:
        return "any number"
    if found.shape is Shape.OUTSIDE:
        ways = ((found.high, math.inf), (-math.inf, found.low))
        return ", ".join(_way(*ends) for ends in ways if min(map(abs, ends)) < math.inf) or "any number"
    return _way(found.low, found.high)


def _way(low: float, high: float) -> str:
    """Format the numbers of patients for benefit or harm, from the smaller to the larger."""
    word = "benefit" if low + high > 0 or (low >= 0 and high > 0) else "harm"
    ends = sorted((abs(low), abs(high)))
    few, many = map(_patients, ends)
    return f"{word} {few}" if few == many else f"{word} {few} to {many}"


def _patients(number: float) -> str:
    """Format a number of patients, rounded up; numbers below ten have one decimal.

    >>> _patients(1.23), _patients(12.01), _patients(math.inf)
    ('1.2', '13', '∞')
    """
    if math.isinf(number):
        return _INFINITE
    if number > _MAX_PATIENTS:
        return "more than 10^9"
    if number < 9.95:
        return f"{number:.1f}"
    return f"{math.ceil(number * (1.0 - 1e-9)):,}"  # so that 1 / 0.05 is 20 despite rounding


def p_value(p: float | None) -> str:
    """Format a p-value.

    >>> p_value(0.00001), p_value(0.0312), p_value(1.0)
    ('<0.001', '0.031', '1.000')
    """
    return UNKNOWN if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def from_log(log: float | None) -> str:
    """Format a Bayes factor or an e-value, given its logarithm; very large or small ones as a power of ten.

    >>> from_log(math.log(12.3)), from_log(230.0), from_log(-230.0), from_log(-math.inf)
    ('12.3', '10^99.9', '10^-99.9', '0')
    """
    if log is None:
        return UNKNOWN
    if math.isinf(log):
        return "0" if log < 0 else _INFINITE
    power = log / math.log(10.0)
    return f"10^{power:.1f}" if abs(power) >= 3 else f"{math.exp(log):.3g}"


def bayes_factor_words(log: float | None, words: tuple[str, str]) -> str:
    """Format a Bayes factor as a number of at least 1, with words for the hypothesis that it favours.

    The first of `words` is for a logarithm above 0.

    >>> bayes_factor_words(math.log(0.01), ("for a change", "for no change"))
    '100 for no change'
    """
    return UNKNOWN if log is None else f"{from_log(abs(log))} {words[log <= 0.0]}"


def outcome_words(lower_is_better: bool) -> str:
    """Describe which end of the outcome scale is better."""
    if lower_is_better:
        return "outcome: lower is better, read as 1 − the value given"
    return "outcome: 1 is read as the better end of the scale"


def first_few(each: Sequence[str], n: int = 3, where: str = "") -> str:
    """Join the first few of several texts, and add how many more there are.

    >>> first_few(["a", "b"]), first_few(["a", "b", "c"], 1, " in the table")
    ('a; b', 'a; and 2 more in the table')
    """
    more = f"; and {len(each) - n} more{where}" if len(each) > n else ""
    return "; ".join(each[:n]) + more


def unique(sentences: Sequence[str]) -> list[str]:
    """Return the distinct non-empty sentences in order of first appearance."""
    return list(dict.fromkeys(" ".join(one.split()) for one in sentences if one.strip()))


def sentence(text: str) -> str:
    """Turn a clause into a sentence.

    >>> sentence("nobody took it")
    'Nobody took it.'
    """
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def apart_from(names: Collection[str], heading: str) -> str:
    """Return a heading, in brackets if one of the names equals it.

    >>> apart_from(["tea", "nothing"], "nothing"), apart_from(["tea"], "nothing")
    ('(nothing)', 'nothing')
    """
    return apart_from(names, f"({heading})") if heading in names else heading
