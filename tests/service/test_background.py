"""What the service does unasked."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adhere.design.make_design import make_design
from adhere.service import background
from adhere.service.context import Service
from adhere.service.settings import ServiceSettings
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend
from adhere.trial.writing.processor import CommandProcessor
from service.serving import in_file, wait_until


def test_overdue_reports_are_imputed_looks_by_day_made_and_a_site_is_not_told_so(tmp_path: Path) -> None:
    rule = {"after_days": 1e-6, "took_nothing": True, "reward": 0}
    with in_file(tmp_path / "trials.db", ServiceSettings(impute_every=0.05)) as service:
        trial = service.new_trial(impute=rule)
        looked_at = service.new_trial(n_patients=5, looks={"days": [1e-6]})
        site = service.client("site")
        number = site.recommend(trial, "S-1").id
        site.recommend(looked_at, "S-1")
        admin = service.client()
        wait_until(lambda: admin.results(trial).imputed_parts == 2)
        wait_until(lambda: len(admin.looks(looked_at)) == 1)
        told = site.recommendation(trial, number)
        assert told.open
        assert told.reward is None
        everything = admin.recommendation(trial, number)
        assert everything.derivation is not None
        assert everything.derivation.imputed == ("actual", "reward")
        assert everything.reward == 0
        site.report(trial, number, reward=1)
        assert site.recommendation(trial, number).reward == 1


def test_only_long_logs_are_read_ahead_for_monitors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_LONG", 3)
    store = open_store(tmp_path / "trials.db")
    processor = CommandProcessor(store)
    for name in ("short", "long"):
        processor.create(make_design(name, "uniform", ("a", "b")))
    for number in range(2):
        subject = f"S-{number}"
        processor.execute([Recommend(trial="long", request_id=subject, by="a test", subject=subject, site="A")])

    async def read() -> list[str]:
        service, asked = Service(store, ServiceSettings(), b""), []

        async def note(trial: str, head: str) -> None:
            asked.append(trial)

        monkeypatch.setattr(service.monitors, "get", note)
        await background.read_ahead(service, ["short", "none", "long"])  # one that is not there holds up nobody
        service.close()
        return asked

    assert asyncio.run(read()) == ["long"]
