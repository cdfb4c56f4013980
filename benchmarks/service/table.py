"""The findings in Markdown."""

from __future__ import annotations

from statistics import median, quantiles

from benchmarks.cpu.measuring import Key, Rounds, Spread
from benchmarks.pages import table, table_of_bars, times
from benchmarks.service.bars import bars, percent, seconds
from benchmarks.service.findings import Findings
from benchmarks.service.optuna_beside import MANY, ONE, PLAIN, PROCESSES, THREADS, TUNED
from benchmarks.service.sharing import LOADS, POSTGRES, SQLITE
from benchmarks.service.state_size import N_ARMS
from benchmarks.service.subjects import ADHERE, BOUNDED, CLIENTS, SKELETON, THOMPSON

_NOTES = f"""\
A pair is a recommendation and the report on it: two requests, each answered once it is on the disk. Clients, server
and database share this machine's cores, so every rate is that of all of them together; the {CLIENTS} clients are one
thread of C (`load.c`). Ratios are medians over rounds of the ratio within a round, the smallest and the largest in
brackets; a round runs everyone once, one after the other."""


def markdown(findings: Findings) -> str:
    """The whole page."""
    versions = ", ".join(f"{name} {version}" for name, version in findings.versions.items())
    parts = [
        "# adhere's service",
        f"{findings.date}. {findings.machine}. {versions}. {findings.compiler}.",
        f"Written by `make bench-service` in {findings.seconds / 60:.0f} minutes; every round is in `service.json`.",
        "## Bars",
        table_of_bars(bars(findings)),
        _NOTES,
        _fsync(findings),
        "## Beside a bare log",
        _beside_bare(findings),
        _bare_note(findings),
        "## Latency",
        _latency(findings),
        f"At {findings.throughput.half:,.0f} pairs a second, half of adhere's peak, due at fixed times whether"
        " answers come or not, and timed from when they were due. Both kinds of request together.",
        "## Beside Optuna",
        *_optuna(findings),
        "## PostgreSQL and SQLite",
        _sharing(findings),
        _sharing_note(findings),
        "## State",
        _state(findings),
        "## A long trial",
        *_long_trial(findings),
    ]
    return "\n\n".join(parts) + "\n"


def _rate(rounds: Rounds, key: Key) -> str:
    rates = Spread.of([1e9 / ns for ns in rounds.ns[key]])
    digits = 0 if rates.median >= 100 else 1
    return f"{rates.median:,.{digits}f} [{rates.lo:,.{digits}f}–{rates.hi:,.{digits}f}]"


def _fsync(findings: Findings) -> str:
    cuts = quantiles(findings.fsync_ms, n=100)
    return (
        f"An append of 4 KB with its fsync took {median(findings.fsync_ms):.2f} ms here (median of"
        f" {len(findings.fsync_ms)}, half of them before and half after the rest; 1st to 99th percentile"
        f" {cuts[0]:.2f}–{cuts[-1]:.2f} ms; {findings.disk})."
    )


def _beside_bare(findings: Findings) -> str:
    found, rows = findings.throughput, []
    for key in ((SKELETON, ""), (ADHERE, THOMPSON), (ADHERE, BOUNDED)):
        cpu = Spread.of(found.cpu_ms[key[1]])
        share = "" if key[0] == SKELETON else percent(found.rounds.ratio((SKELETON, ""), key))
        name = key[0] if key[0] == SKELETON else f"{key[0]}, `{key[1]}`"
        used = f"{cpu.median:.2f} [{cpu.lo:.2f}–{cpu.hi:.2f}]"
        rows.append([name, _rate(found.rounds, key), share, used])
    return table(["", "pairs a second", "of the bare log's", "server's ms of processor a pair"], rows)


def _bare_note(findings: Findings) -> str:
    found = findings.throughput
    n_rounds = len(found.rounds.ns[(SKELETON, "")])
    return (
        f"{n_rounds} rounds of {findings.seconds_a_round:g} s, two arms, one server process each on a SQLite file of"
        " its own that grows over the rounds. *A bare log* (`skeleton.py`) is the least a durable service can do on"
        " the same parts: Starlette, uvicorn, the same token check, hash chain, unique request ids and shared fsync,"
        " but no bandit, no look at the past and no index beyond the request ids. It keeps as many bytes a pair as"
        f" `{THOMPSON}` ({found.bytes_a_pair[THOMPSON]:.0f} of bodies, hashes and request ids;"
        f" `{BOUNDED}` keeps {found.bytes_a_pair[BOUNDED]:.0f})."
    )


def _latency(findings: Findings) -> str:
    rows = []
    for name, runs in findings.throughput.latency.items():
        cells = [Spread.of([getattr(run, at) for run in runs]) for at in ("p50", "p90", "p99", "max")]
        rows.append([name, *(f"{cell.median:.1f} [{cell.lo:.1f}–{cell.hi:.1f}]" for cell in cells)])
    return table(["milliseconds", "p50", "p90", "p99", "largest"], rows)


def _optuna(findings: Findings) -> list[str]:
    found = findings.optuna
    if found.missing:
        return [f"Optuna {found.missing}."]
    rows = [[f"{ADHERE}, {clients}", _rate(found.rounds, (ADHERE, clients)), ""] for clients in (ONE, MANY)]
    for setup in (PLAIN, TUNED):
        for way in (ONE, THREADS, PROCESSES):
            ours = ADHERE, ONE if way == ONE else MANY
            ratio = times(found.rounds.ratio((setup, way), ours))
            rows.append([f"{setup}, {way}", _rate(found.rounds, (setup, way)), ratio])
    failed = "; ".join(f"{name} {count}" for name, count in found.failed.items())
    return [
        table(["", "pairs a second, all clients", "adhere with as many clients"], rows),
        "A pair of Optuna's is an ask with one categorical parameter of two values and a tell, on SQLite. *As it"
        ' comes*: `create_study(storage="sqlite:///…")`, which is a rollback journal, the TPE sampler and one study'
        " for all clients. *Tuned*: write-ahead log, random sampler, a study for each client. Optuna is a library"
        " called in the client's own process, with a new database in every round; adhere is asked over HTTP. Both"
        " wait for the disk. With 16 clients each has a sixteenth of the total, so the ratio in all is also the ratio"
        f" per client. Pairs that Optuna gave up with an error: {failed or 'none'}.",
    ]


def _sharing(findings: Findings) -> str:
    rounds, rows = findings.sharing.rounds, []
    for load in LOADS:
        ratio = times(rounds.ratio((SQLITE, load), (POSTGRES, load)))
        rows.append([load, _rate(rounds, (SQLITE, load)), _rate(rounds, (POSTGRES, load)), ratio])
    return table([f"pairs a second, {CLIENTS} clients on", SQLITE, POSTGRES, "PostgreSQL against SQLite"], rows)


def _sharing_note(findings: Findings) -> str:
    found = findings.sharing
    return (
        f"PostgreSQL {found.postgres} as it comes, fsync {found.fsync}, on the same machine; `--workers 4` on one"
        " port. Every run has trials of its own, with some pairs before it that are not timed."
        " After every run its logs were read: as many recommendations and reports as pairs acknowledged, every"
        f" request id once, the chain of hashes unbroken ({found.checked_pairs:,} pairs in all)."
    )


def _state(findings: Findings) -> str:
    largest = sorted(findings.state_bytes.items(), key=lambda item: -item[1])[:5]
    said = ", ".join(f"`{policy}` {size:,}" for policy, size in largest)
    return (
        f"What a trial keeps beside its log, with {N_ARMS} arms after {findings.state_pairs} pairs, in bytes; the"
        f" five largest of {len(findings.state_bytes)} policies: {said}. The smallest:"
        f" {min(findings.state_bytes.values()):,}."
    )


def _long_trial(findings: Findings) -> list[str]:
    found = findings.endurance
    return [
        table(
            ["requests answered:", *(f"{requests:,}" for requests in found.megabytes)],
            [["memory of the service, MB", *(f"{megabytes:.0f}" for megabytes in found.megabytes.values())]],
        ),
        f"`{THOMPSON}` with {CLIENTS} clients at full speed on SQLite, {found.seconds:.0f} s, every commit on the"
        f" disk; resident memory of the one server process. The trial so made, {found.records:,} records, is the one"
        " that is restarted, replayed and verified. *Restart*: from the start of the command `adhere serve` until a"
        " recommendation is answered, after the database file was dropped from the system's cache:"
        f" {seconds(found.restarts)}. The store opened and a recommendation made within a process, likewise:"
        f" {seconds(found.in_process)}. Replay and verify are whole commands.",
    ]
