"""Text summary for a terminal: tables and sentences within 100 columns, then the verdict and the notes."""

from collections.abc import Iterator

from adhere.analysis.findings import Findings
from adhere.analysis.formatting import outcome_words, sentence, unique
from adhere.analysis.output import tables
from adhere.analysis.output.notes import notes_of
from adhere.report.numbers import counted
from adhere.report.section import Listing
from adhere.report.text_table import paragraph, text_table

WIDEST, NARROWEST = 100, 60
_MAX_SUBGROUPS = 12  # rows
_DIGEST = 12  # characters shown of a digest


def summary(analysis: Findings, width: int = WIDEST) -> str:
    """Return the summary in lines of at most `width` characters (60 to 100)."""
    width = max(NARROWEST, min(width, WIDEST))
    parts = [paragraph(headline(analysis), width)]
    parts += [paragraph(f"warning: {one}", width) for one in unique(analysis.warnings)]
    parts += _flow(analysis, width)
    parts += _effects(analysis, width)
    parts += _trust(analysis, width)
    parts += _allocation(analysis, width)
    parts += _subgroups(analysis, width)
    if analysis.verdict:
        parts.append("In words\n" + "\n".join(_item(one, width) for one in unique(analysis.verdict)))
    notes = notes_of(analysis)
    if notes:
        parts.append("Notes\n" + "\n".join(_item(one, width) for one in notes))
    return "\n\n".join(parts) + "\n"


def headline(analysis: Findings) -> str:
    """Return the first line: trial, patients, arms, digest of the data, version of adhere, outcome."""
    arms = arms_words(analysis)
    if len(analysis.arms) > tables.MAX_ARMS:
        arms = f"{len(analysis.arms)} arms, control {analysis.control}"
    digest = f"; data {analysis.digest.rpartition(':')[2][:_DIGEST]}" if analysis.digest else ""
    digest += f", head {analysis.head[:_DIGEST]}" if analysis.head else ""
    patients = counted(analysis.n_patients, "patient")
    said = f"{analysis.title}: {patients}; {arms}; {allocation_words(analysis)}{digest}"
    return f"{said}; adhere {analysis.version}; {outcome_words(analysis.lower_is_better)}"


def arms_words(analysis: Findings) -> str:
    """Return the arms, with the control marked unless its name is "control"."""
    known = analysis.control.lower() == "control"
    return ", ".join(arm + (" (control)" if arm == analysis.control and not known else "") for arm in analysis.arms)


def allocation_words(analysis: Findings) -> str:
    """Describe how arms were drawn, as far as this is known."""
    n_lacking = analysis.n_without_probabilities
    if not analysis.has_probabilities and not analysis.adaptive:
        if analysis.fixed_allocation:
            return "allocation declared fixed (--fixed-allocation)"
        some = f"missing for {n_lacking:,} of {analysis.n_patients:,} patients"
        return f"probabilities of arms {some if n_lacking < analysis.n_patients else 'not given'}"
    how = "adaptive allocation" if analysis.adaptive else "probabilities of arms fixed"
    lacking = f", probabilities missing for {n_lacking:,} patient{'s' * (n_lacking != 1)}" if n_lacking else ""
    return f"{how}{lacking}, order: {analysis.order}"


def _item(text: str, width: int) -> str:
    first, *others = paragraph(text, width - 4, "").split("\n")
    return "\n".join([f"  - {first}", *(f"    {line}" for line in others)])


def _flow(analysis: Findings, width: int) -> Iterator[str]:
    yield _table(tables.flow_table(analysis), width)
    yield _table(tables.compliance_table(analysis), width)
    yield "Missing values\n" + paragraph(analysis.missing.sentence, width, "  ")


def _effects(analysis: Findings, width: int) -> Iterator[str]:
    means = tables.means_table(analysis)
    if means.rows:
        yield _table(means, width)
    every, is_small = analysis.pairs, len(analysis.arms) <= tables.MAX_ARMS
    against_control = [pair for pair in every if pair[1] == analysis.control]
    if is_small:
        for pair in against_control:
            yield _table(tables.effects_table(analysis, *pair, nested=True), width, "lrll")
            ratios = tables.ratios_table(analysis, [pair])
            if ratios.rows:
                yield _table(ratios, width, "l")
        others = every[len(against_control) :]
    else:
        others = against_control
    if others:
        yield _table(tables.pairs_table(analysis, others), width)
    n_left = len(every) - len(others) - len(against_control) * is_small
    if n_left:
        yield paragraph(f"{counted(n_left, 'more pair')} of arms, and every view of each: --json or --html.", width)
    bounds = tables.bounds_table(analysis)
    if is_small and bounds.rows:
        yield _table(bounds, width)
    said = paragraph(analysis.bounds.inequality.sentence, width, "  " * analysis.withholds_bounds)
    heading = "Mean outcomes and bounds" if analysis.mixes_strata else "Bounds"
    yield f"{heading}\n{said}" if analysis.withholds_bounds else said
    strata = tables.strata_table(analysis)
    if strata.rows:
        yield _table(strata, width, "llrl")
    elif analysis.strata.reason:
        yield "Principal strata\n" + paragraph(sentence(analysis.strata.reason), width, "  ")


def _trust(analysis: Findings, width: int) -> Iterator[str]:
    table = tables.mediation_table(analysis)
    said = paragraph(analysis.mediation.sentence, width, "  ")
    yield f"{_table(table, width)}\n{said}" if table.rows else f"{table.caption}\n{said}"


def _allocation(analysis: Findings, width: int) -> Iterator[str]:
    if analysis.allocation is not None:
        said = paragraph(analysis.allocation.sentence, width, "  ")
        yield f"{_table(tables.allocation_table(analysis), width)}\n{said}"
    tests = tables.randomisation_table(analysis)
    if tests.rows:
        yield _table(tests, width)


def _subgroups(analysis: Findings, width: int) -> Iterator[str]:
    table = tables.subgroups_table(analysis)
    if not table.rows:
        return
    shown = table.rows[:_MAX_SUBGROUPS]
    more = len(table.rows) - len(shown)
    text = "\n".join([table.caption, text_table([table.header, *shown], width, "lrl")])
    yield text + (f"\n  and {more:,} more rows: --json or --html" if more else "")


def _table(listing: Listing, width: int, align: str = "") -> str:
    return "\n".join([paragraph(listing.caption, width), text_table([listing.header, *listing.rows], width, align)])
