"""What the arena's page says in words, every number of it from the tables."""

from __future__ import annotations

from collections.abc import Sequence

import polars

from adhere.intervals import Estimate
from adhere.report.frontier import not_dominated
from adhere.report.numbers import counted, estimate_texts
from adhere.studies.arena.facts import Facts, Named
from adhere.studies.framework.words import listed

_TOLERATED = -0.005  # of the best possible surplus: losses up to this are none
_SLIGHT = -0.01  # of the best possible surplus, lost where pooling misleads
_LONG = 50_000  # patients, from which on growth says something of still longer trials
_NAMED = 6  # policies that a sentence holds
_LINEAR = 0.9  # a power of the number of patients, from which on growth is called linear


def lead(facts: Facts) -> str:
    """What the page is."""
    policies, families = len(facts.labels), len(facts.families)
    populations = counted(int(facts.families["n_populations"].sum()), "population")
    return (
        f"{_counted(policies, 'policy', 'policies')} {'meets' if policies == 1 else 'meet'} the same patients of "
        f"{populations} in {_counted(families, 'family', 'families')}, in trials of {_horizons(facts)} patients. "
        "The populations are fixed and published: anybody who runs “adhere arena” meets them again, with policies of "
        "their own beside these if they like."
    )


def main_question(facts: Facts) -> str:
    """The question of the page."""
    return (
        f"Which policy gains most in a trial of {facts.horizon:,} patients who do not always do as they are told, "
        "whatever these are like?"
    )


def main_result(facts: Facts) -> str:
    """The policy that is best on average, and where it is best and worst."""
    best = facts.best()
    if best == facts.reference:
        return f"{facts.labels[best]} played alone: there is nothing to compare it with."
    ranked = sorted(facts.differences(best), key=lambda one: one.estimate.mean)
    (low, lowest), (high, highest) = ranked[0], ranked[-1]
    reference, name, average = facts.labels[facts.reference], facts.labels[best], facts.average(best)
    span = f"from {_plain(lowest)} ({low}) to {_plain(highest)} ({high})"
    if average.mean <= 0:
        return (
            f"On average over families nothing beats {reference}: {name} comes nearest, {_plain(average)} of the "
            f"best possible surplus, {span}."
        )
    return (
        f"On average over families {name} does best: {_plain(average)} of the best possible surplus above "
        f"{reference}, {span}."
    )


def main_uncertainty(facts: Facts) -> str:
    """How sure that is."""
    average = estimate_texts([facts.average(facts.best())], sign="+")[0]
    n_cells = facts.mapped().filter(polars.col("policy") != facts.reference).height
    said = (
        f"That average is {average}. Intervals are 95%, over the populations of a family, and differences are paired "
        f"on the same patients; of {n_cells} cells about {n_cells / 20:.0f} would be marked by chance if nothing "
        "differed. "
    )
    if facts.single:
        said += f"Single populations, with intervals over runs: {', '.join(facts.single)}. "
    return said + "Nobody knows which family a trial of one's own is in: an average over families is no forecast."


def details(facts: Facts) -> list[str]:
    """Where the default stands, bar by bar."""
    if facts.default is None:
        return []
    name, reference = facts.labels[facts.default], facts.labels[facts.reference]
    found = facts.differences(facts.default)
    ahead = [one for one in found if (one.estimate.low or 0.0) > 0]
    behind = [one for one in found if (one.estimate.high or 0.0) < 0]
    below = [one for one in found if one.estimate.high is not None and one.estimate.high < _TOLERATED]
    said = [
        f"{name} is beyond chance above {reference} in {_families(ahead)}, and below it in {_families(behind)}; "
        f"wholly below {_TOLERATED} in {_families(below)}."
    ]
    hybrids = facts.hybrids()
    if hybrids:
        said.append(
            f"{name} is above the paper's hybrids ({'; '.join(facts.labels[one] for one in hybrids)}) in mean in "
            f"every family{_but(facts, 'share')}; and in the worst 5%, as drawn below, in every family"
            f"{_but(facts, 'worst_5_percent_held_out')}."
        )
    return said


def _but(facts: Facts, column: str) -> str:
    """The families in which the default is not above a hybrid."""
    assert facts.default is not None
    found = []
    for other in facts.hybrids():
        values = [
            (family, *(facts.value(one, family, column) for one in (facts.default, other))) for family in facts.large
        ]
        behind = [family for family, own, its in values if own is not None and its is not None and own <= its]
        found += [f"{facts.labels[other]} in {listed(behind)}"] if behind else []
    return f", but for {'; '.join(found)}" if found else ""


def frontier_question(facts: Facts) -> str:
    """The question of the frontier."""
    return (
        "What does a policy gain where the reward depends on the arm taken alone (mediated), and what does it lose "
        "where that is not so?"
    )


def frontier_result(facts: Facts) -> str:
    """Who gains most at next to no loss, and how many policies no other beats on both."""
    losses, gains = _losses(facts), dict(facts.frontier.select("label", "gain").iter_rows())
    safe = {label: gains[label] for label, loss in losses.items() if loss >= _SLIGHT}
    n_best = len(_unbeaten(facts))
    said = f"{n_best or 'none'} of {len(losses)} policies {'are' if n_best > 1 else 'is'} "
    said += "beaten by no other " if n_best else "unbeaten "
    said += "in every figure." if len(facts.misleading()) > 1 else "on both."
    if not safe:
        return said[0].upper() + said[1:]
    first = max(safe, key=safe.__getitem__)
    return (
        f"Of those that lose at most {-_SLIGHT:g} where it is not so, {first} gains most, {safe[first]:+.3f}; {said}"
    )


def _losses(facts: Facts) -> dict[str, float]:
    """What each policy loses in the misleading family in which it loses most, below 0, by label."""
    found = facts.frontier.group_by("label", maintain_order=True).agg(polars.col("loss").min())
    return dict(found.iter_rows())


def _unbeaten(facts: Facts) -> list[str]:
    """The policies that no other beats on both, whatever the misleading family."""
    everywhere: list[set[str]] = []
    for family in facts.misleading():
        its = facts.frontier.filter(loss_family=family)
        points = list(its.select("loss", "gain").iter_rows())
        everywhere.append({name for name, best in zip(its["label"], not_dominated(points), strict=True) if best})
    return [label for label in _losses(facts) if all(label in its for its in everywhere)]


def frontier_uncertainty(facts: Facts) -> str:
    """How sure that is, and what the unbeaten ones lose."""
    best, losses = _unbeaten(facts), _losses(facts)
    said = ""
    if 0 < len(best) <= _NAMED:
        named = [f"{label} (loses {max(0.0, -losses[label]):.3f} where it loses most)" for label in best]
        said = f"Unbeaten: {'; '.join(named)}. "
    return (
        f"{said}Points whose intervals overlap may change places on other populations: beaten by a hair is not "
        f"worse. What is lost is shown apart for {listed(facts.misleading())}."
    )


def growth_question(facts: Facts) -> str:
    """The question of the curves."""
    return f"Does a policy go on losing as trials grow to {facts.longest:,} patients, and in the worst case?"


def growth_result(facts: Facts) -> str:
    """Whose worst case grows in proportion to the number of patients where the reference's does not."""
    linear, reference = linear_worst(facts), facts.labels[facts.reference]
    if facts.longest < _LONG:
        return f"Trials of up to {facts.longest:,} patients are too short to say whose worst case grows for ever."
    if not linear:
        return f"No policy's worst case grows like the number of patients where that of {reference} does not."
    n, verb = ("1 policy", "has") if len(linear) == 1 else (f"{len(linear)} policies", "have")
    n_played = facts.results.filter(n_patients=facts.longest)["policy"].n_unique()
    said = f"{n} of {n_played} {verb} a worst case that grows like the number of patients where "
    said += f"that of {reference} does not"
    if facts.default is not None:
        said += f"; {facts.labels[facts.default]} is {'' if facts.default in linear else 'not '}among them"
    return said + "."


def linear_worst(facts: Facts) -> dict[str, list[str]]:
    """The families in which a policy's worst case grows linearly and the reference's does not, by policy."""
    known = facts.results.filter(n_patients=facts.longest).drop_nulls("growth_of_worst")
    growth = {(row["policy"], row["family"]): row["growth_of_worst"] for row in known.iter_rows(named=True)}
    found: dict[str, list[str]] = {}
    for (policy, family), power in growth.items():
        if power >= _LINEAR > growth.get((facts.reference, family), 0.0):
            found.setdefault(policy, []).append(family)
    return found


def growth_uncertainty(facts: Facts) -> str:
    """How sure that is."""
    return (
        f"Growth is called linear from a power of {_LINEAR} of the number of patients on (our threshold). It is that "
        "of the mean regret in the worst 5% of populations over the last tenfold of patients, chosen by one half of "
        "the runs and measured in the other; with few runs of the longest trials it is uncertain."
    )


def growth_details(facts: Facts) -> list[str]:
    """Every linear worst case, by name."""
    if facts.longest < _LONG:
        return []
    return [f"Linear for {facts.labels[policy]}: {listed(its)}." for policy, its in linear_worst(facts).items()]


def regrets_result(facts: Facts) -> str:
    """Who loses least, in each of the three senses, averaged over families."""
    kinds = {
        "regret_recommendation": "against the best recommendation",
        "regret_treatment": "against the best treatment",
        "regret_compliers": "among compliers",
    }
    parts = []
    for column, words in kinds.items():
        if (found := facts.least(column)) is not None:
            policy, value = found
            parts.append(f"{words} by {facts.labels[policy]} ({value:.3f} a patient)")
    return f"Averaged over families, least is lost {listed(parts)}."


def optimum_result(facts: Facts) -> str:
    """How near to the optimum the best policy, the default and the reference come, in the first family with one."""
    known = facts.optimum()
    first = known.row(0, named=True)
    its = known.filter(family=first["family"], n_patients=first["n_patients"])
    reached = dict(its.select("policy", "fraction_of_optimum").iter_rows())
    best = max(reached, key=reached.__getitem__)
    shown = dict.fromkeys(one for one in (best, facts.default, facts.reference) if one in reached)
    said = [f"{facts.labels[policy]} reaches {reached[policy]:.0%}" for policy in shown if policy is not None]
    return f"In trials of {first['n_patients']} patients on {first['family']}, {listed(said)} of the optimum."


def time_result(facts: Facts) -> str:
    """The fastest, the slowest, and the default."""
    times = facts.times()
    ends = [
        (times[one], facts.labels[one])
        for one in (min(times, key=times.__getitem__), max(times, key=times.__getitem__))
    ]
    said = " to ".join(f"{time:,.0f} ns ({name})" for time, name in ends)
    own = f"; {facts.labels[facts.default]} takes {times[facts.default]:,.0f} ns" if facts.default in times else ""
    return f"A decision takes from {said}{own}."


def _plain(one: Estimate) -> str:
    return f"{round(one.mean, 3) + 0.0:+.3f}"  # + 0.0 turns -0.0 into 0.0


def _families(found: Sequence[Named]) -> str:
    names = listed([one.name for one in found])
    return f"{len(found)} {'family' if len(found) == 1 else 'families'} ({names})" if found else "none"


def families_result(facts: Facts) -> str:
    """How many populations of how many families, and their seeds."""
    seeds = listed([str(seed) for seed in facts.families["seed"].drop_nulls().unique(maintain_order=True)])
    n = int(facts.families["n_populations"].sum())
    drawn = f", drawn from seed {seeds}" if seeds else ""
    return f"On {counted(n, 'population')} in {_counted(len(facts.families), 'family', 'families')}{drawn}."


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _horizons(facts: Facts) -> str:
    ends = dict.fromkeys((facts.shortest, facts.longest))
    return " to ".join(f"{end:,}" for end in ends)
