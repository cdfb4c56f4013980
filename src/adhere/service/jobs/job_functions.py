"""Long read-only functions (exports, results, verification), called here or in the process for jobs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from adhere.analysis.analyse import analyse_records
from adhere.policies import import_policies
from adhere.store import open_store
from adhere.trial.domain.events import created_event
from adhere.trial.domain.log_records import made_event
from adhere.trial.log.derive import Reproduction, derive_again
from adhere.trial.log.explain import reasons
from adhere.trial.log.follow_up import FollowUp
from adhere.trial.log.log_file import write_log
from adhere.trial.log.records import trial_records
from adhere.trial.log.table import write_table
from adhere.trial.log.verify import VerificationResult, verify
from adhere.trial.monitoring.policy_beliefs import belief_words, beliefs_in
from adhere.trial.monitoring.results import Results, results_of
from adhere.trial.writing.processor import CommandProcessor


def export_table(processor: CommandProcessor, trial: str, form: str, path: str) -> str:
    """Write a trial's table to a file and return the head of its log."""
    live = processor.trial(trial)
    with processor.store.reading() as view:
        return write_table(view, live.number, live.design, Path(path), form)


def export_log(processor: CommandProcessor, trial: str, path: str) -> str:
    """Write a trial's log to a file and return its head."""
    live = processor.trial(trial)
    with processor.store.reading() as view:
        return write_log(view, live.number, Path(path))


def analyse_trial(processor: CommandProcessor, trial: str, form: str, path: str) -> str:
    """Write a trial's analysis to a file, as a page or as JSON, and return the head of its log."""
    live = processor.trial(trial)
    with processor.store.reading() as view:
        records = trial_records(view, live.number, live.design)
    found = analyse_records(records)
    text = found.to_html() if form == "html" else msgspec.json.encode(found.to_json()).decode()
    Path(path).write_text(text, "utf-8")
    return records.head


def trial_results(processor: CommandProcessor, trial: str) -> Results:
    """Return a trial's results so far."""
    live = processor.trial(trial)
    with processor.store.reading() as view:
        return results_of(view, live.number, live.design, live.engine)


def verify_trial(processor: CommandProcessor, trial: str, head: str | None = None) -> VerificationResult:
    """Verify a trial's log, and that it contains the record with the hash `head`."""
    with processor.store.reading() as view:  # found without its design, because the design is in the log
        return verify(view, view.trials()[trial], head)


def follow_up(processor: CommandProcessor, trial: str, known: FollowUp) -> FollowUp:
    """Update a trial's follow-up from its log."""
    with processor.store.reading() as view:
        known.catch_up(view, view.trials()[trial])
    return known


def derivation(
    processor: CommandProcessor, trial: str, recommendation_id: str
) -> tuple[Reproduction, list[tuple[str, str]]]:
    """Derive a recommendation again, and return the reasons for it."""
    with processor.store.reading() as view:
        known = view.trials()[trial]
        found = derive_again(view, known, recommendation_id)
        made = made_event(view, known, recommendation_id)
        why = list(reasons(view, known, created_event(view, known), made))
    if found.state is not None and found.comparison.probabilities:
        after = 1 + next(place for place, (what, _) in enumerate(why) if what == "policy")
        why[after:after] = [("believed", said) for said in belief_words(beliefs_in(found.state))]
    return replace(found, state=None), why


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "table": export_table,
    "log": export_log,
    "analysis": analyse_trial,
    "results": trial_results,
    "verify": verify_trial,
    "follow-up": follow_up,
    "derivation": derivation,
}


def start(location: str, secret_file: Path | None, imports: Sequence[Path]) -> Callable[..., Any]:
    """Open the store in the process for jobs. Return the function that calls the others by name."""
    processor = open_processor(location, secret_file, imports)
    return lambda name, *arguments: FUNCTIONS[name](processor, *arguments)


def open_processor(location: str, secret_file: Path | None, imports: Sequence[Path]) -> CommandProcessor:
    """Import the user's own policies, and open a store in a process that only reads it."""
    for file in imports:
        import_policies(file)
    return CommandProcessor(open_store(location, read_only=True, secret_file=secret_file))
