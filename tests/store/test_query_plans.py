"""Every statement that a command runs on SQLite finds its rows by an index: none reads a whole table or trial."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from adhere.design.make_design import make_design
from adhere.design.parts import Imputation
from adhere.store.sqlite import SqliteStore
from adhere.trial.domain.commands import (
    AnyCommand,
    ChangeStatus,
    Correct,
    Erase,
    ImputeMissing,
    MarkInError,
    Recommend,
    RecommendationResponse,
    Report,
    Withdraw,
)
from adhere.trial.writing.processor import CommandProcessor
from trial.live import send

# The steps of a plan that read all of a table, or all that it has of a trial; not the list given to a statement, nor
# the names of all trials, which are few and read once.
_WHOLE = re.compile(r"SCAN (?!json_each|trials|\d+ CONSTANT ROWS|CONSTANT ROW)|SEARCH .*\(trial=\?\)$")
# To erase somebody, all free texts of the trial are gone through: an index would cost every recommendation. The table
# of updates has one row for 1024 records. If a retraction opens a recommendation again, the subject's latest one is
# looked for among all subjects, for the same reason.
_ALLOWED = ("DELETE FROM notes", "SELECT sum(n) FROM updates", "SELECT latest FROM subjects")


def test_commands_look_everything_up_by_an_index(tmp_path: Path) -> None:
    path, statements = tmp_path / "trials.db", set[str]()
    store = SqliteStore(path)
    store._connection.set_trace_callback(statements.add)
    processor = CommandProcessor(store)
    rule = Imputation(after_days=1e-9, took_nothing=True, reward=0)
    processor.create(make_design("t", "thompson/actual", ["a", "b"], impute=rule))
    first, second = (send(processor, Recommend(trial="t", request_id=one, subject=one)) for one in ("s", "other"))
    assert isinstance(first, RecommendationResponse)
    assert isinstance(second, RecommendationResponse)
    about: dict[str, Any] = {"trial": "t", "recommendation_id": first.recommendation_id}
    other: dict[str, Any] = {"trial": "t", "recommendation_id": second.recommendation_id}
    commands: tuple[AnyCommand, ...] = (
        Recommend(trial="t", request_id="", subject="s"),
        Recommend(trial="t", request_id="", subject="other"),
        Report(**about, request_id="", took_other="yoga", reward=1),
        Report(**about, request_id="again", took_other="yoga"),
        Correct(**about, request_id="", actual="a", reason="a slip"),
        Correct(**about, request_id="", took_other="swimming", reason="a slip"),
        Correct(**about, request_id="", retract=("reward",), reason="a slip"),
        Withdraw(**other, request_id="", reason="moved"),
        MarkInError(**other, request_id="", reason="entered twice"),
        ImputeMissing(trial="t", request_id=""),
        ChangeStatus(trial="t", request_id="", status="paused", reason="a holiday"),
        Erase(trial="t", request_id="", subject="s"),
        Correct(**about, request_id="", took_other="rowing", reason="a slip"),
    )
    for number, command in enumerate(commands):
        for _ in range(2):
            send(processor, replace(command, request_id=f"r{number}"))
    store.close()
    looked_up = [text for text in statements if text.split()[0] in {"SELECT", "UPDATE", "DELETE", "INSERT"}]
    assert any("FROM notes" in text for text in looked_up)
    assert any(text.startswith("SELECT") and "JOIN erased" in text for text in looked_up)
    assert any("DELETE FROM states" in text for text in looked_up)
    with closing(sqlite3.connect(path)) as connection:
        plans = {text: connection.execute(f"EXPLAIN QUERY PLAN {text}").fetchall() for text in looked_up}
    found = [(step, text) for text, steps in plans.items() for *_, step in steps if _WHOLE.match(step)]
    assert [(step, text) for step, text in found if not text.startswith(_ALLOWED)] == []
