"""The events of a trial's log and their fields, from the types that the program reads and writes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from design_file import type_words
from markdown import code, paragraph, plain, table

from adhere.trial.domain import events

_COMMENT = re.compile(r"^    (\w+): .*?  # (.+)$", re.MULTILINE)


def events_page() -> str:
    """Return a section for each event, with the fields of its own."""
    parts = [
        f"The format of the log is version {events.LOG_FORMAT}.\n",
        "## Fields of every record\n",
        table(("field", "type", "default", "meaning"), _fields(events.Event, ())),
        "## Fields of every record about a recommendation\n",
        table(("field", "type", "default", "meaning"), _fields(events.EventAbout, _names(events.Event))),
    ]
    for event in get_args(events.AnyEvent):
        base = events.EventAbout if issubclass(event, events.EventAbout) else events.Event
        about = " It is about a recommendation." if base is events.EventAbout else ""
        parts.append(f"## {event.__struct_config__.tag}\n\n{paragraph(event.__doc__)}{about}\n")
        if rows := list(_fields(event, _names(base))):
            parts.append(table(("field", "type", "default", "meaning"), rows))
    return "\n".join(parts)


def _names(kind: Any) -> tuple[str, ...]:
    return tuple(kind.__struct_fields__)


def _fields(kind: Any, known: tuple[str, ...]) -> Iterator[tuple[str, str, str, str]]:
    comments = dict(_COMMENT.findall(inspect.getsource(kind)))
    for field in msgspec.structs.fields(kind):
        if field.name not in known:
            meaning = comments.get(field.name, _MEANINGS.get(field.name, ""))
            yield code(field.name), type_words(field.type), _default(field), plain(meaning)


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.default is msgspec.NODEFAULT:
        return "required" if field.default_factory is msgspec.NODEFAULT else ""
    return "" if field.default in (None, "", ()) else code(msgspec.json.encode(field.default).decode())


_MEANINGS = {
    "position": "the index of the record in the log, from 0",
    "at": "when the record was written",
    "by": "the token that sent the command; empty for what the program does by itself",
    "request_id": "the ID of the request, which is its Idempotency-Key over HTTP",
    "digest": "the digest of the command, which detects another command under the same ID",
    "log_format": "the version of the log's format",
    "commitment": "the digest of the secret that draws the arms",
    "seed": "the seed that draws the arms of a rehearsal or of a trial in memory",
    "design": "the design of the trial: see [the design file](design-file.md)",
    "design_digest": "the digest of the design",
    "algorithm_version": "the version of the policy's algorithm",
    "software": "the version of adhere",
    "reason": "why, in the words of the person who asked for it",
    "recommendation_id": "the ID that people and programs see",
    "subject": "the key of the subject",
    "site": "the site",
    "chosen": "the index of the arm recommended",
    "probabilities": "the probability of each arm",
    "memo": "what the policy remembers until the report",
    "estimated": "whether the probabilities were estimated by drawing",
    "fallback": "why all arms had equal probabilities, if the policy failed",
    "actual": "the index of the arm taken; -1 for nothing and -2 for something else",
    "reward": "the outcome, from 0 to 1",
    "happened": "when it happened, if the reporter gave a time",
    "retract": "the parts of the report that were retracted",
    "place": "the position of the record that the update counts from",
    "n_outcomes": "the number of outcomes known",
    "n_recommendations": "the number of recommendations made",
    "status": "the status of each arm, as a number",
    "decision": "the decision, as a number",
    "asked": "the command that was refused",
}
