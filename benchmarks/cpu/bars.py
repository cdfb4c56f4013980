"""The bars that were set for adhere's speed on a processor, each with what was measured."""

from __future__ import annotations

from benchmarks.cpu.c_programs import LANES, LIKE_FOR_LIKE, LIMIT
from benchmarks.cpu.findings import Findings
from benchmarks.cpu.generator import GENERATOR, ONE_BY_ONE, TOGETHER
from benchmarks.cpu.growth import EXPERTS, ONE_THREAD, THREADED, TWO_THREADS
from benchmarks.cpu.measuring import Key
from benchmarks.cpu.ours import ADHERE, BOUNDED, GREEDY, HIERARCHICAL, THOMPSON, THOMPSON_OF_THREE
from benchmarks.cpu.peers import PYMAB, PYMAB_EXPERIMENT, RIVER
from benchmarks.pages import Bar, times

STUDY_SECONDS, LINEAR, FLAT = 35, 1.1, 1.1
_NAMES = {THOMPSON: "two-arm Thompson", GREEDY: "ε-greedy"}


def bars(findings: Findings) -> list[Bar]:
    """Every bar for this machine's processor."""
    found = []
    for policy, name in _NAMES.items():
        for most, whose, maker in (
            (1.3, "the like-for-like C program", LIKE_FOR_LIKE),
            (2.0, "the limit, one trial at a time", LIMIT),
            (2.0, "the limit, vector lanes", LANES),
        ):
            found.append(_at_most(findings, f"{name}: ≤ {most}× {whose}", (ADHERE, policy), (maker, policy), most))
    found += [_at_least(findings, RIVER, [RIVER], 300), _at_least(findings, PYMAB, [PYMAB, PYMAB_EXPERIMENT], 150)]
    for policy, most in ((HIERARCHICAL, 4.0), (BOUNDED, 6.0)):
        found.append(
            _at_most(findings, f"{policy}: ≤ {most:.0f}× thompson", (ADHERE, policy), (ADHERE, THOMPSON), most)
        )
    return [*found, _three_arms(findings), _threads(findings), _study(findings), *_linear(findings), _flat(findings)]


def _at_most(findings: Findings, asked: str, above: Key, below: Key, most: float) -> Bar:
    ratio = findings.speed.ratio(above, below)
    return Bar(asked, times(ratio), ratio.median <= most)


def _at_least(findings: Findings, name: str, makers: list[str], least: float) -> Bar:
    asked = f"two-arm Thompson: ≥ {least:.0f}× as fast as {name}'s"
    known = [(maker, THOMPSON) for maker in makers if (maker, THOMPSON) in findings.speed.ns]
    if not known:
        return Bar(asked, findings.missing[name], None)
    fastest = min(known, key=lambda key: findings.speed.cost(key).median)
    ratio = findings.speed.ratio(fastest, (ADHERE, THOMPSON))
    how = f" (its {fastest[0].removeprefix(name).strip()})" if fastest[0] != name else ""
    return Bar(asked, times(ratio) + how, ratio.median >= least)


def generator_ns(findings: Findings) -> float:
    """Nanoseconds that the random words of one three-arm decision take alone."""
    together = findings.speed.cost((GENERATOR, TOGETHER)).median
    one_by_one = findings.speed.cost((GENERATOR, ONE_BY_ONE)).median
    return (findings.words.patient + 1) * together + (findings.words.choice - 1) * one_by_one


def _three_arms(findings: Findings) -> Bar:
    cost, words, own = findings.speed.cost((ADHERE, THOMPSON_OF_THREE)), findings.words, generator_ns(findings)
    found = (
        f"{cost.median:.0f} ns [{cost.lo:.0f}–{cost.hi:.0f}]; the generator's share is {own / cost.median:.0%}: "
        f"{words.patient:.0f} words for the patient, {words.choice:.2f} for the choice, {own:.0f} ns when drawn alone"
    )
    return Bar("three-arm Thompson: ≤ 150 ns a decision, the generator's share stated", found, cost.median <= 150)


def _threads(findings: Findings) -> Bar:
    ratios = {policy: findings.threads.ratio((ONE_THREAD, policy), (TWO_THREADS, policy)) for policy in THREADED}
    found = "; ".join(f"{policy} {times(ratio)}" for policy, ratio in ratios.items())
    return Bar("two threads: ≥ 1.8× one", found, all(ratio.median >= 1.8 for ratio in ratios.values()))


def _study(findings: Findings) -> Bar:
    asked = (
        f"the stroke study (20 policies × 2 trials × 2000 runs × 10,000 patients): ≤ {STUDY_SECONDS} s on two cores"
    )
    seconds = findings.study_seconds
    if findings.study_runs != 2000:
        return Bar(asked, f"{seconds:.1f} s for {findings.study_runs:,} runs", None)
    return Bar(asked, f"{seconds:.1f} s", seconds <= STUDY_SECONDS)


def _linear(findings: Findings) -> list[Bar]:
    found = []
    for growth in findings.growth:
        if growth.size != EXPERTS:
            exponents = {policy: growth.exponent(policy) for policy in growth.policies}
            said = ", ".join(f"{policy} {exponent:.2f}" for policy, exponent in exponents.items())
            asked = f"cost linear in {growth.size}: exponent ≤ {LINEAR}"
            sizes = growth.fitted
            where = f" from {sizes[0]:,} to {sizes[-1]:,}"
            found.append(Bar(asked, said + where, all(exponent <= LINEAR for exponent in exponents.values())))
    return found


def _flat(findings: Findings) -> Bar:
    least, most = min(findings.memory), max(findings.memory)
    grown = findings.memory[most] / findings.memory[least]
    said = f"{findings.memory[least]:.0f} MB at {least:,} runs, {findings.memory[most]:.0f} MB at {most:,}"
    return Bar("memory flat as runs grow", f"{said}: {grown:.2f}×", grown <= FLAT)
