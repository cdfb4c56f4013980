"""What was found on a GPU, in Markdown."""

from __future__ import annotations

from typing import Any

from benchmarks.pages import table

_STUDY_BAR = 2.0


def markdown(found: dict[str, Any]) -> str:
    """The whole page."""
    equal, study = found["equal"], found["study"]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    parts = [
        "# adhere on a GPU",
        f"{found['date']}. {found['machine']}. {versions}.",
        "Written by `make bench-gpu`; every repetition is in `gpu.json`.",
        "## Decisions a second",
        table(
            ["policy", "population", "runs", "decisions/s (kernel)", "bar", "", "whole `simulate`"],
            [_speed_row(one) for one in found["speeds"]],
        ),
        "10,000 patients each. *Kernel*: the launch alone, by the GPU's own events, the best of three."
        " *Whole*: seconds from the call of `simulate` to its result, with the copying of tallies and the processor's"
        " summaries.",
        "## How near to the limit",
        table(
            ["policy", "population", "instructions a decision", "threads active of 32", "issue slots used", "ALU",
             "fp64", "FMA", "memory", "registers"],
            [_count_row(one) for one in found["speeds"] if one["counts"]],
        ),
        "From the GPU's counters (`ncu`) on a launch of 135,168 runs of 1000 patients. A multiprocessor starts at"
        " most four instructions a cycle, each for 32 threads; *issue slots used* is the share of that. ALU, fp64 and"
        " FMA are the shares of what these pipes take at most: for whole numbers and 64-bit floats half of that.",
        "## The stroke study",
        f"20 policies × 2 trials × 2000 runs × 10,000 patients, compiled before: {min(study):.2f} s, the best of"
        f" {len(study)} ({'✓' if min(study) <= _STUDY_BAR else '✗'} bar {_STUDY_BAR:.0f} s).",
        f"{equal['same']} of its {equal['of']} results are the same to the bit as the processor's"
        f" ({equal['n_runs']} runs each).",
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _speed_row(one: dict[str, Any]) -> list[str]:
    bar = one["bar"]
    verdict = "" if bar is None else "✓" if one["rate"] >= bar else "✗"
    asked = "" if bar is None else f"{bar:.0e}"
    return [
        f"`{one['policy']}`", one["population"], f"{one['n_runs']:,}", f"{one['rate']:.2e}", asked, verdict,
        f"{one['whole']:.2f} s, {one['n_runs'] * one['n_patients'] / one['whole']:.1e}/s",
    ]  # fmt: skip


def _count_row(one: dict[str, Any]) -> list[str]:
    counts = one["counts"]

    def shown(name: str, form: str) -> str:
        return format(counts[name], form) if name in counts else "–"

    percents = [f"{shown(name, '.0f')}%" for name in ("issue_percent", "alu_percent", "fp64_percent", "fma_percent")]
    return [
        f"`{one['policy']}`", one["population"], shown("instructions_per_decision", ".0f"),
        shown("threads_active", ".1f"),
        *percents, f"{shown('memory_percent', '.1f')}%", shown("registers", ".0f"),
    ]  # fmt: skip
