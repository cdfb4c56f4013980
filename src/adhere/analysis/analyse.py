"""Analyse the records of a trial: every view side by side, what each guarantees, and which can be trusted."""

from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np

from adhere.analysis.adaptive.aipw import aipw
from adhere.analysis.adaptive.allocation_check import allocation_check
from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence, confidence_sequences, why_not
from adhere.analysis.adaptive.outcome_drift import outcomes_drifted
from adhere.analysis.adaptive.randomisation_test import RandomisationTest
from adhere.analysis.adaptive.stratified_sequence import stratified_sequences
from adhere.analysis.analysis import Analysis
from adhere.analysis.bounding.bounds import bounds
from adhere.analysis.findings import Subgroup
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.fixed_sample.principal_strata import principal_strata
from adhere.analysis.fixed_sample.stratum_balance import stratum_balance
from adhere.analysis.flow import flow
from adhere.analysis.missing_outcomes.missing import missing
from adhere.analysis.records import Records, digest_of
from adhere.analysis.sentences import say
from adhere.analysis.trust.cautions import warnings
from adhere.analysis.trust.estimands import estimands
from adhere.analysis.trust.mediation import mediation
from adhere.analysis.trust.verdict import verdict
from adhere.analysis.trust.withheld import without_invalid, without_promises
from adhere.checks import is_number
from adhere.errors import InputError

MAX_SUBGROUPS = 50
MIN_LEVEL, MAX_LEVEL = 0.5, 0.9999
_SAME = 1e-9  # probabilities that differ by less count as equal


def analyse_records(
    records: Records,
    *,
    level: float = 0.95,
    margin: float = 0.05,
    randomisation: Callable[[], tuple[RandomisationTest, ...]] = tuple,
    lower_is_better: bool | None = None,
    fixed_allocation: bool = False,
) -> Analysis:
    """Analyse records by every view.

    `level` is the level of all confidence sets. `margin` is the equivalence margin of mediation: up to this
    difference, outcomes given the arm taken count as not depending on the arm chosen. `randomisation` runs the
    randomisation test by replay, which needs a trial's log. With `lower_is_better`, an outcome y is read as 1 − y;
    the default is the direction of the records. The digest depends on this
    direction. `fixed_allocation` declares that
    the probabilities of arms were fixed in advance and that this is the only look.
    """
    check_options(level, margin)
    lower_is_better = records.lower_is_better if lower_is_better is None else lower_is_better
    for name, value in (("lower_is_better", lower_is_better), ("fixed_allocation", fixed_allocation)):
        if not isinstance(value, bool):
            raise InputError(name, value, "True or False")
    records = _directed(records, lower_is_better)
    records = as_benefit(records, lower_is_better)
    if fixed_allocation and is_adaptive(records):
        expected = "records with constant probabilities"
        raise InputError("fixed_allocation", True, expected, say("probabilities_changed"))
    sequences = confidence_sequences(records, level)
    draft = _drafted(records, sequences, level, margin, lower_is_better=lower_is_better)
    return _judged(
        replace(
            draft,
            aipw=aipw(records, level, by_stratum=draft.mixes_strata) if sequences else (),
            randomisation=tuple(_turned(one) if lower_is_better else one for one in randomisation()),
            subgroups=_subgroups(records, level),
            fixed_allocation=fixed_allocation,
        )
    )


def analyse_running(
    records: Records,
    sequences: tuple[ConfidenceSequence, ...],
    *,
    level: float = 0.95,
    margin: float = 0.05,
    lower_is_better: bool = False,
) -> Analysis:
    """Analyse the records of a running trial, given confidence sequences that are up to date.

    Like `analyse_records`, but without methods that take longer or are valid for a single look only: no AIPW, no
    subgroups and no randomisation test. `lower_is_better` means that the records were made by `as_benefit`.
    """
    return _judged(_drafted(records, sequences, level, margin, lower_is_better=lower_is_better))


def _directed(records: Records, lower_is_better: bool) -> Records:
    """Return the records with the direction of the analysis and the matching digest."""
    if records.lower_is_better == lower_is_better:
        return records if records.digest else replace(records, digest=digest_of(records))
    warnings = records.warnings if lower_is_better else (*records.warnings, say("against_the_records"))
    turned = replace(records, lower_is_better=lower_is_better, warnings=warnings)
    return replace(turned, digest=digest_of(turned))


def as_benefit(records: Records, lower_is_better: bool) -> Records:
    """Return records in which higher outcomes are better; if lower is better, an outcome y becomes 1 − y."""
    return replace(records, reward=1.0 - records.reward) if lower_is_better else records


def _drafted(
    records: Records,
    sequences: tuple[ConfidenceSequence, ...],
    level: float,
    margin: float,
    *,
    lower_is_better: bool,
) -> Analysis:
    """Compute the results that follow from the records alone, before judging which to trust."""
    adaptive, reason = is_adaptive(records), why_not(records)
    balance = stratum_balance(records, adaptive=adaptive)
    depends = balance is not None and balance.depends
    if sequences and depends:
        sequences = stratified_sequences(records, level)
    return Analysis(
        name=records.name,
        source=records.source,
        digest=records.digest,
        head=records.head,
        version=version("adhere"),
        arms=records.arms,
        control=records.arms[records.control],
        level=level,
        n_patients=records.n_patients,
        is_binary=records.is_binary,
        has_probabilities=records.has_all_probabilities,
        n_without_probabilities=int(records.patients[records.lacks_probabilities].sum()),
        adaptive=adaptive,
        order=records.order,
        columns=records.columns,
        flow=flow(records, level),
        missing=missing(records, adaptive=adaptive, level=level, by_patients=depends),
        effects=effects(records, level, by_patients=depends),
        strata=principal_strata(records, adaptive=adaptive, level=level),
        bounds=bounds(records, adaptive=adaptive, level=level),
        mediation=mediation(records, adaptive=adaptive, margin=margin, level=level),
        sequences=sequences,
        why_no_sequences=reason,
        allocation=None if reason else allocation_check(records, level),
        balance=balance,
        warnings=records.warnings,
        lower_is_better=lower_is_better,
        rehearsal=records.rehearsal,
        outcomes_drifted=adaptive and outcomes_drifted(records),
        arm_order=records.arm_order,
    )


def _judged(draft: Analysis) -> Analysis:
    """Add which results can be trusted, and withhold those that cannot."""
    draft = without_promises(without_invalid(draft))
    return replace(draft, estimands=estimands(draft), warnings=warnings(draft), verdict=verdict(draft))


def check_options(level: object, margin: object) -> None:
    """Check the confidence level, the equivalence margin, and that SciPy is installed."""
    if not is_number(level) or not MIN_LEVEL <= level <= MAX_LEVEL:
        raise InputError("level", level, f"a number from {MIN_LEVEL} to {MAX_LEVEL}, such as 0.95")
    if not is_number(margin) or not 0.0 < margin < 1.0:
        raise InputError("margin", margin, "a difference above 0 and below 1, such as 0.05")
    try:
        is_installed = find_spec("scipy") is not None
    except ImportError:  # for example, if an import hook refuses it
        is_installed = False
    if not is_installed:
        extra = "the analysis extra: pip install 'adhere[analysis]' (in a checkout: '.[analysis]')"
        raise InputError("analyse", None, extra, f"adhere analyse needs {extra}")


def is_adaptive(records: Records) -> bool:
    """Return whether the known probability of an arm changed within a stratum."""
    if records.probabilities is None:
        return False
    stratum = np.zeros(len(records), dtype=np.int64) if records.stratum is None else records.stratum
    for of_arm in records.probabilities.T:
        known = ~np.isnan(of_arm)
        _, first, of_stratum = np.unique(stratum[known], return_index=True, return_inverse=True)
        if np.any(np.abs(of_arm[known] - of_arm[known][first[of_stratum]]) > _SAME):
            return True
    return False


def _turned(test: RandomisationTest) -> RandomisationTest:
    """Return the test for reversed outcomes; the test is two-sided, so its p-value is unchanged."""
    return test if test.statistic is None else replace(test, statistic=-test.statistic)


def _subgroups(records: Records, level: float) -> dict[str, Subgroup]:
    if records.stratum is None or not 1 < len(records.strata) <= MAX_SUBGROUPS:
        return {}
    found = {}
    for number, name in enumerate(records.strata):
        part = records.of_stratum(number)
        sequences = () if why_not(records) else confidence_sequences(part, level)
        found[name] = Subgroup(part.n_patients, effects(part, level), sequences)
    return found
