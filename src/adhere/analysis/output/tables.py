"""Tables of an analysis for terminal and page: flow, compliance, means, effects and checks."""

from collections.abc import Mapping, Sequence

from adhere.analysis.estimates import Comparison, Quantity, View
from adhere.analysis.findings import Findings
from adhere.analysis.fixed_sample.effects import NO_ESTIMAND
from adhere.analysis.flow import ArmFlow
from adhere.analysis.formatting import (
    ASSUMPTIONS,
    UNKNOWN,
    apart_from,
    bayes_factor_words,
    estimate,
    from_log,
    needed,
    p_value,
    percent,
    quantity,
    set_text,
    signed,
)
from adhere.analysis.output.effect_rows import AT_RANDOM, MISLEADING, NOT_ADAPTIVE, effect_rows
from adhere.analysis.trust.withheld import ADAPTS_BY_STRATUM, WITHHELD
from adhere.report.section import Listing

MAX_ARMS = 6  # up to this number, each arm has a column
STARRED = "*"  # marks a view without an estimand
_MIXED = "strata mixed: arms were assigned to different strata, so do not compare rows"
_FAVOURS = "that it does", "that it does not"  # answers to the question in the caption


def level_text(analysis: Findings) -> str:
    """Return the level of the intervals as text.

    >>> f"{0.999:.6%}".rstrip("0%")
    '99.9'
    """
    whole, _, part = f"{analysis.level:.4%}".removesuffix("%").partition(".")
    return f"{whole}.{part.rstrip('0')}%" if part.rstrip("0") else f"{whole}%"


def promise(analysis: Findings, *, of_taken: bool = False) -> str:
    """Return a caveat for captions of fixed-sample sets if the allocation adapted or reports are missing.

    With `of_taken`, the sets are about the treatment taken, not about outcomes.
    """
    lacking = analysis.missing.taken if of_taken else analysis.missing.outcomes
    said = [NOT_ADAPTIVE] * analysis.adaptive + [AT_RANDOM] * any(lacking.values())
    said += [_MIXED] * (of_taken and analysis.mixes_strata)
    return f" ({'; '.join(said)})" if said else ""


def flow_table(analysis: Findings) -> Listing:
    """Patients by arm assigned, with a column per arm (a row per arm if there are many). Zero counts are left out."""
    every = [*analysis.flow.arms, *([analysis.flow.total] if len(analysis.flow.arms) > 1 else [])]
    names = [*analysis.arms, apart_from(analysis.arms, analysis.flow.total.arm)][: len(every)]
    columns: dict[str, list[int]] = {
        "assigned": [one.assigned for one in every],
        "took it": [one.took_it for one in every],
        "took another arm": [one.crossed_over for one in every],
        "took nothing": [one.took_nothing for one in every],
        "took something else": [one.took_other for one in every],
        "not reported": [one.not_reported for one in every],
        "lost before reporting it": [one.lost for one in every],
        "outcome known": [one.outcome_known for one in every],
        "outcome imputed": [one.outcome_imputed for one in every],
        "outcome missing": [one.outcome_missing for one in every],
        "of which lost to follow-up": [one.outcome_lost for one in every],
    }
    always = ("assigned", "took it", "took another arm", "outcome known", "outcome missing")
    kept = {name: numbers for name, numbers in columns.items() if name in always or any(numbers)}
    caption = "Flow: patients by the arm assigned"
    if len(analysis.arms) <= MAX_ARMS:
        down = [[name, *(f"{number:,}" for number in numbers)] for name, numbers in kept.items()]
        return Listing(caption, ["", *names], down)
    rows = [[name, *(f"{numbers[row]:,}" for numbers in kept.values())] for row, name in enumerate(names)]
    return Listing(caption, ["arm", *kept], rows)


def compliance_table(analysis: Findings) -> Listing:
    """Shares of patients who took each arm, among patients with a report."""
    found, is_small = analysis.flow.arms, len(analysis.arms) <= MAX_ARMS
    taken: dict[str, list[float | None]] = {"another arm": [_another(one) for one in found]}
    if is_small:
        taken = {arm: [one.matrix[arm].value for one in found] for arm in analysis.arms}
    more = {
        "nothing": [one.nothing.value for one in found],
        "something else": [one.something_else.value for one in found],
    }
    names = set(taken)
    taken |= {apart_from(names, what): shares for what, shares in more.items() if any(shares)}
    rows = []
    for row, one in enumerate(found):
        cells = [UNKNOWN if (share := shares[row]) is None else f"{share:.1%}" for shares in taken.values()]
        rows.append([one.arm, *cells, percent(one.compliance)])
    caption = "Compliance: what was taken (across), of those whose report is known, by the arm assigned (down)"
    header = ["assigned", *taken, f"took it [{level_text(analysis)}]"]
    return Listing(caption + promise(analysis, of_taken=True), header, rows)


def _another(one: ArmFlow) -> float | None:
    if one.compliance.value is None:
        return None
    return sum(share.value or 0.0 for arm, share in one.matrix.items() if arm != one.arm)


def means_table(analysis: Findings) -> Listing:
    """Mean outcome of each arm by view; empty if means are withheld."""
    found: dict[str, dict[View, Quantity]] = {} if analysis.mixes_strata else {arm: {} for arm in analysis.arms}
    for one in analysis.effects.means if found else ():
        found[one.arm][one.view] = one.mean
    views = [view for view in View if any(view in means for means in found.values())]
    heads = [view.value + (f" {STARRED}" if view in (View.AS_TREATED, View.PER_PROTOCOL) else "") for view in views]
    rows = [[arm, *(_mean(means.get(view), view) for view in views)] for arm, means in found.items()]
    return Listing(f"Mean outcome [{level_text(analysis)}] (n: patients){promise(analysis)}", ["arm", *heads], rows)


def _mean(one: Quantity | None, view: View) -> str:
    """Format a mean with its number of patients, except for compliers, who cannot be counted."""
    if one is None or one.value is None:
        return UNKNOWN
    return quantity(one) if view is View.COMPLIERS else f"{quantity(one)} (n={one.n:,})"


def bounds_table(analysis: Findings) -> Listing:
    """Bounds on each arm's mean if everybody took it; empty if bounds are withheld."""
    rows = [
        [
            one.treatment,
            ASSUMPTIONS.get(one.assumption, one.assumption),
            UNKNOWN if one.low is None or one.high is None else f"{one.low:z.3f} to {one.high:z.3f}",
            str(one.limits or UNKNOWN),
        ]
        for one in analysis.bounds.bounds
        if one.control is None and not analysis.withholds_bounds
    ]
    header = ["arm", "assumption", "bounds", f"limits [{level_text(analysis)}]"]
    return Listing("Mean outcome if everybody took the arm: bounds", header, rows)


def strata_table(analysis: Findings) -> Listing:
    """Shares and mean outcomes of the principal strata."""
    found, interval = analysis.strata, level_text(analysis)
    missing = f", {AT_RANDOM}" if any(analysis.missing.outcomes.values()) else ""
    rows = [["share of", who, percent(one), _holds(one)] for who, one in found.shares.items()]
    for who, one in found.means.items():
        mean = UNKNOWN if one.value is None else quantity(one)
        rows.append(["mean outcome of", who, mean, _holds(one) + missing * bool(one.sets)])
    return Listing("Principal strata, if there are no defiers", ["", "who", f"estimate [{interval}]", "holds"], rows)


def _holds(found: Quantity) -> str:
    """Return the guarantee of the first set of a quantity."""
    return found.sets[0].validity.value if found.sets else UNKNOWN


def mediation_table(analysis: Findings) -> Listing:
    """Evidence, for each arm taken, on whether the outcome depends on the arm assigned."""
    said = {None: UNKNOWN, True: "yes", False: "no"}
    rows = [
        [
            one.arm,
            f"{sum(one.n.values()):,}",
            UNKNOWN if one.largest_difference.value is None else quantity(one.largest_difference),
            bayes_factor_words(one.log_bayes_factor, _FAVOURS),
            from_log(one.log_e),
            p_value(one.p_value),
            said[one.within_margin],
        ]
        for one in analysis.mediation.arms
    ]
    if len(rows) > 1:
        every = analysis.mediation
        factor = bayes_factor_words(every.log_bayes_factor, _FAVOURS)
        evidence = [factor, from_log(every.log_e), p_value(every.p_value)]
        rows.append([apart_from(analysis.arms, "all arms"), "", "", *evidence, said[every.equivalent]])
    header = [
        "arm taken",
        "patients",
        f"largest difference [{level_text(analysis)}]",
        "Bayes factor",
        "e-value",
        "p",
        f"within {analysis.mediation.margin:g}",
    ]
    return Listing("Does the outcome depend on what was assigned, given what was taken?", header, rows)


def missing_table(analysis: Findings) -> Listing:
    """Numbers of missing and imputed values; empty if there are none."""
    found = analysis.missing
    columns: dict[str, Mapping[str, int]] = {
        "outcome missing": found.outcomes,
        "taken not known": found.taken,
        "outcome imputed": found.imputed_outcomes,
        "taken imputed": found.imputed_taken,
    }
    kept = {name: counts for name, counts in columns.items() if any(counts.values())}
    rows = [[arm, *(f"{counts.get(arm, 0):,}" for counts in kept.values())] for arm in analysis.arms] if kept else []
    return Listing("Missing values, by the arm assigned", ["arm", *kept], rows)


def allocation_table(analysis: Findings) -> Listing:
    """Observed and expected number of draws of each arm."""
    found = analysis.allocation
    assert found is not None
    each = zip(found.arms, found.observed, found.expected, found.log_e_by_arm, strict=True)
    rows = [[arm, f"{n:,}", f"{expected:,.1f}", from_log(log_e)] for arm, n, expected, log_e in each]
    whole = [f"{sum(found.observed):,}", f"{sum(found.expected):,.1f}", from_log(found.log_e)]
    rows.append([apart_from(analysis.arms, "all arms"), *whole])
    return Listing("Allocation check", ["arm", "drawn", "expected", "e-value"], rows)


def randomisation_table(analysis: Findings) -> Listing:
    """Results of the randomisation tests that were run."""
    rows = [
        [
            f"{one.treatment} against {one.control}",
            UNKNOWN if one.statistic is None else signed(one.statistic),
            p_value(one.p_value),
            f"{one.n_redraws:,}",
            "yes" if one.exact else "no",
        ]
        for one in analysis.randomisation
        if one.p_value is not None
    ]
    return Listing("Randomisation test by replay", ["comparison", "difference", "p", "redraws", "exact"], rows)


def effects_table(analysis: Findings, treatment: str, control: str, *, nested: bool = False) -> Listing:
    """Every estimate of one effect, with its set and the guarantee of the set.

    With `nested`, further methods of a view are indented below the first, without the name of the view.
    """
    rows: list[list[str]] = []
    seen: set[str] = set()
    for row in effect_rows(analysis, treatment, control):
        value = UNKNOWN if row.value is None else signed(row.value)
        found = set_text(row.found)
        if row.bar is not None:
            value = f"{row.bar[0]:z.3f} to {row.bar[1]:z.3f}"
        if row.tipping is not None:
            value = " or ".join(f"{one:.3f}" for one in row.tipping.tipping_means) or "none, 0 to 1"
            found = f"at random {row.tipping.mean_at_random:.3f}"
        star = f" {STARRED}" if row.kind == NO_ESTIMAND else ""
        label = f"  {row.method}" if nested and row.view in seen else row.label
        seen.add(row.view)
        rows.append([label + star, value, found, row.holds])
    caption = f"{treatment} against {control}: difference in mean outcome"
    return Listing(caption, ["view", "estimate", f"{level_text(analysis)} set", "holds"], rows)


def ratios_table(analysis: Findings, shown: Sequence[tuple[str, str]]) -> Listing:
    """Ratios, numbers needed to treat and p-values of these pairs, except withheld ones."""
    kept = [one for one in analysis.effects.comparisons if one.difference.reason not in WITHHELD]
    found = [one for pair in shown for one in kept if one.pair == pair]
    corrections = list(dict.fromkeys(name for one in found for name in one.adjusted))
    several = len(shown) > 1
    rows = [
        [
            *([f"{one.treatment} against {one.control}"] if several else []),
            analysis.view_name(one) + (f" {STARRED}" if one.view in MISLEADING else ""),
            UNKNOWN if one.ratio.value is None and not one.ratio.sets else quantity(one.ratio),
            needed(one.number_needed),
            p_value(one.p_value),
            *(p_value(one.adjusted.get(name)) for name in corrections),
        ]
        for one in found
    ]
    header = ["view", f"ratio [{level_text(analysis)}]", "number needed to treat", "p"]
    header = [*(["comparison"] if several else []), *header, *corrections]
    whose = "" if several else f"{shown[0][0]} against {shown[0][1]}: "
    return Listing(f"{whose}ratio of means, number needed to treat, p{promise(analysis)}", header, rows)


def pairs_table(analysis: Findings, shown: Sequence[tuple[str, str]]) -> Listing:
    """Intention-to-treat effect of each of these pairs, with its confidence sequence if it has one."""
    sequences = {one.pair: one for one in analysis.sequences if one.view is View.INTENTION_TO_TREAT}
    compared: dict[tuple[str, str], Comparison] = {}
    for one in analysis.effects.comparisons:
        if one.view is View.INTENTION_TO_TREAT:
            compared.setdefault(one.pair, one)
    corrections = list(dict.fromkeys(name for pair in shown for name in compared[pair].adjusted))
    rows = []
    for pair in shown:
        one = compared[pair]
        is_known = one.difference.value is not None or one.difference.sets
        difference = quantity(one.difference, sign=True) if is_known else UNKNOWN  # the reason is among the notes
        row = [f"{pair[0]} against {pair[1]}", difference, p_value(one.p_value)]
        row += [p_value(one.adjusted.get(name)) for name in corrections]
        rows.append(row + ([set_text(sequences[pair].final) if pair in sequences else UNKNOWN] if sequences else []))
    header = ["comparison", f"difference [{level_text(analysis)}]", "p", *corrections]
    header += ["any-time valid set"] if sequences else []
    how = ", stratified" if any(compared[pair].stratified for pair in shown) else ""
    return Listing(f"Intention-to-treat{how}, pair by pair{promise(analysis)}", header, rows)


def sequences_table(analysis: Findings) -> Listing:
    """Final set of each confidence sequence."""
    rows = [
        [
            f"{one.treatment} against {one.control}",
            one.view.value,
            UNKNOWN if one.estimate is None else signed(one.estimate),
            set_text(one.final),
            p_value(one.p_value),
            f"{one.n_used:,}",
            f"{one.n_pending:,}",
        ]
        for one in analysis.sequences
    ]
    header = ["comparison", "view", "estimate", f"{level_text(analysis)} set", "p, any time", "used", "pending"]
    return Listing("Confidence sequences at the end of the records", header, rows)


def subgroups_table(analysis: Findings) -> Listing:
    """Intention-to-treat difference from control in each stratum."""
    several = len(analysis.arms) > 2
    rows: list[list[str]] = []
    for name, group in analysis.subgroups.items():
        for pair in analysis.pairs:
            found = group.assigned_effect(*pair, adaptive=analysis.adaptive)
            if found is not None and pair[1] == analysis.control:
                comparison = [f"{pair[0]} against {pair[1]}"] if several else []
                rows.append([name, f"{group.n_patients:,}", *comparison, estimate(*found, sign=True)])
    heads = ["stratum", "patients", *(["comparison"] if several else []), f"difference [{level_text(analysis)}]"]
    kind = ", any-time valid" if analysis.adaptive and analysis.sequences else promise(analysis)
    if analysis.adaptive and analysis.mixes_strata and not analysis.sequences:
        kind = f" ({WITHHELD[ADAPTS_BY_STRATUM]})"
    return Listing(f"Subgroups: intention-to-treat by stratum{kind}", heads, rows)
