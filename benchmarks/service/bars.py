"""The bars that were set for the service, each with what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.cpu.measuring import Spread
from benchmarks.pages import Bar, times
from benchmarks.service.findings import Findings
from benchmarks.service.load import Latency
from benchmarks.service.optuna_beside import MANY, ONE, PLAIN, TUNED
from benchmarks.service.sharing import LOADS, POSTGRES, SQLITE
from benchmarks.service.state_size import N_ARMS
from benchmarks.service.subjects import ADHERE, BOUNDED, SKELETON, THOMPSON

SHARE, P99_MS, PER_CLIENT, IN_ALL, POSTGRES_LEAST = 0.6, 100, 50, 100, 1.0
STATE_BYTES, RESTART, REPLAY, FLAT = 2048, 2, 60, 1.1
EARLY, LATE = 100_000, 1_000_000  # requests between which memory may not grow; the latter is the trial's records too


def bars(findings: Findings) -> list[Bar]:
    """Every bar of the service."""
    return [
        *(_share(findings, policy) for policy in (THOMPSON, BOUNDED)),
        _latency(findings),
        *_optuna(findings),
        *(_postgres(findings, load) for load in LOADS),
        _state(findings),
        *_long_trial(findings),
        _memory(findings),
    ]


def percent(share: Spread) -> str:
    """A share with its range over rounds.

    >>> percent(Spread(0.614, 0.58, 0.65))
    '61 % [58–65]'
    """
    return f"{share.median:.0%} [{share.lo * 100:.0f}–{share.hi * 100:.0f}]".replace("%", " %")


def seconds(values: Sequence[float]) -> str:
    """A median with its range; alone if it was measured once.

    >>> seconds([2.0]), seconds([1.0, 3.0, 1.5])
    ('2.00 s', '1.50 s [1.00–3.00]')
    """
    spread = Spread.of(values)
    return f"{spread.median:.2f} s" + (f" [{spread.lo:.2f}–{spread.hi:.2f}]" if len(values) > 1 else "")


def p99(runs: Sequence[Latency]) -> Spread:
    """The 99th percentile in milliseconds, run by run."""
    return Spread.of([run.p99 for run in runs])


def _share(findings: Findings, policy: str) -> Bar:
    share = findings.throughput.rounds.ratio((SKELETON, ""), (ADHERE, policy))
    asked = f"{policy}: ≥ {SHARE:.0%} of a bare log's pairs a second (SQLite, 16 clients)".replace("%", " %")
    return Bar(asked, percent(share), share.median >= SHARE)


def _latency(findings: Findings) -> Bar:
    found = findings.throughput
    ours, bare = (p99(found.latency[name]) for name in (ADHERE, SKELETON))
    said = f"{ours.median:.1f} ms [{ours.lo:.1f}–{ours.hi:.1f}] at {found.half:,.0f} pairs/s"
    said += f"; {SKELETON} at the same rate {bare.median:.1f} ms [{bare.lo:.1f}–{bare.hi:.1f}]"
    return Bar(f"p99 latency at half its peak: < {P99_MS} ms", said, ours.median < P99_MS)


def _optuna(findings: Findings) -> list[Bar]:
    found = findings.optuna
    asked = {
        ONE: f"one client: ≥ {PER_CLIENT}× the pairs a second of {PLAIN}",
        MANY: f"16 clients in all: ≥ {IN_ALL}× the pairs a second of {PLAIN}",
    }
    if found.missing:
        return [Bar(text, f"Optuna {found.missing}", None) for text in asked.values()]
    bars = []
    for clients, least in ((ONE, PER_CLIENT), (MANY, IN_ALL)):
        theirs = {setup: (setup, ONE) if clients == ONE else found.best(setup) for setup in (PLAIN, TUNED)}
        ratios = {setup: found.rounds.ratio(key, (ADHERE, clients)) for setup, key in theirs.items()}
        ways = {setup: "" if clients == ONE else f" ({key[1]})" for setup, key in theirs.items()}
        said = f"{times(ratios[PLAIN])}{ways[PLAIN]}; {TUNED}: {times(ratios[TUNED])}{ways[TUNED]}"
        bars.append(Bar(asked[clients], said, ratios[PLAIN].median >= least))
    return bars


def _postgres(findings: Findings, load: str) -> Bar:
    ratio = findings.sharing.rounds.ratio((SQLITE, load), (POSTGRES, load))
    asked = f"{POSTGRES}: ≥ {POSTGRES_LEAST:.1f}× {SQLITE}, 16 clients on {load}"
    return Bar(asked, times(ratio), ratio.median >= POSTGRES_LEAST)


def _state(findings: Findings) -> Bar:
    largest = max(findings.state_bytes, key=lambda policy: findings.state_bytes[policy])
    most = findings.state_bytes[largest]
    said = f"largest of {len(findings.state_bytes)}: {most:,} bytes, `{largest}`"
    return Bar(
        f"a policy's state with {N_ARMS} arms: ≤ {STATE_BYTES:,} bytes, every policy", said, most <= STATE_BYTES
    )


def _long_trial(findings: Findings) -> list[Bar]:
    found = findings.endurance
    whole = found.records >= LATE  # a shorter trial says nothing of the bars
    note = "" if whole else f" with {found.records:,} records"
    restart, replay = Spread.of(found.restarts).median, found.replay
    return [
        Bar(
            f"a trial of {LATE:,} records: restart to the first recommendation < {RESTART} s",
            f"{seconds(found.restarts)}{note}; the store and the recommendation alone {seconds(found.in_process)}",
            restart < RESTART if whole else None,
        ),
        Bar(
            f"the same trial: `adhere trial replay` < {REPLAY} s",
            f"{replay:.1f} s{note}, one run; `adhere trial verify` {found.verify:.1f} s",
            replay < REPLAY if whole else None,
        ),
    ]


def _memory(findings: Findings) -> Bar:
    found = findings.endurance
    asked = f"memory of the service after {LATE:,} requests: ≤ {FLAT}× that after {EARLY:,}"
    early, late = found.megabytes.get(EARLY), found.megabytes.get(LATE)
    if early is None or late is None:
        last = max(found.megabytes)
        return Bar(asked, f"{found.megabytes[last]:.0f} MB after {last:,}", None)
    said = f"{early:.1f} MB, then {late:.1f} MB: {late / early:.3f}×"
    if found.slope is not None:
        said += f"; {found.slope:+.1f} bytes a request"
    return Bar(asked, said, late <= FLAT * early)
