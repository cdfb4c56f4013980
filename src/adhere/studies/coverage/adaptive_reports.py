"""Every interval that the analysis of an adaptive trial reports, with what it should hold, and every test."""

from __future__ import annotations

from collections.abc import Iterator

from adhere.analysis.adaptive.aipw import aipw
from adhere.analysis.adaptive.allocation_check import allocation_check
from adhere.analysis.adaptive.confidence_sequence import confidence_sequences
from adhere.analysis.fixed_sample.effects import View, effects
from adhere.analysis.records import Records
from adhere.studies.coverage.alarms import Alarm, Test
from adhere.studies.coverage.fixed_reports import (
    ALPHA,
    DIFFERENCE,
    NO_EFFECT,
    comparison_truths,
    of_quantity,
    trust_reports,
)
from adhere.studies.coverage.people import People
from adhere.studies.coverage.tally import Interval, Reported

SEQUENCE, AIPW, NAIVE = "confidence sequence", "AIPW", "fixed-sample"
AS_LOGGED = "arms were drawn as logged"


def adaptive_reports(records: Records, who: People) -> Iterator[Reported | Alarm]:
    """Confidence sequences, which hold at every time if they do at the end, and what stands beside them."""
    for sequence in confidence_sequences(records):
        truth = comparison_truths(sequence.view, who.truth)[DIFFERENCE]
        assert truth is not None
        named = Interval(sequence.view.value, DIFFERENCE, SEQUENCE, sequence.final.validity.value, True)
        yield Reported(named, truth, sequence.final)
        if sequence.view is View.INTENTION_TO_TREAT:
            yield Alarm(
                Test(f"{SEQUENCE}, at any time", NO_EFFECT, who.truth.is_null, True), sequence.p_value <= ALPHA
            )
    for estimate in aipw(records):
        truth = comparison_truths(estimate.view, who.truth)[DIFFERENCE]
        assert truth is not None
        yield from of_quantity(estimate.view.value, DIFFERENCE, estimate.difference, truth, False)
    for compared in effects(records).comparisons:
        truth = comparison_truths(compared.view, who.truth)[DIFFERENCE]
        assert truth is not None
        for one in of_quantity(compared.view.value, DIFFERENCE, compared.difference, truth, False):
            yield _renamed(one, f"{NAIVE}, {one.interval.method}")
        if compared.view is View.INTENTION_TO_TREAT and compared.p_value is not None:
            yield Alarm(Test(f"{NAIVE} test", NO_EFFECT, who.truth.is_null, False), compared.p_value <= ALPHA)
    yield from trust_reports(records, who, adaptive=True)
    check = allocation_check(records)
    yield Alarm(Test("allocation check", AS_LOGGED, True, True), check.rejected if check else None)


def _renamed(one: Reported, method: str) -> Reported:
    """The same interval under another name."""
    return one._replace(interval=one.interval._replace(method=method))
