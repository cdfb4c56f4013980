"""adhere where modules that only Linux has are missing, as on other systems."""

from __future__ import annotations

import sys

import pytest

import adhere
from adhere.service.app import make_app
from adhere.service.serve import _config
from adhere.service.settings import ServiceSettings
from adhere.store import open_store
from blocked import run_without

SIMULATE = """
import adhere
from importlib import import_module
from adhere.cli.main import COMMANDS
from adhere.store import open_store

for command in COMMANDS:
    import_module(f"adhere.cli.{command}")
open_store().close()
for name in adhere.__all__:
    getattr(adhere, name)
result = adhere.simulate(["thompson"], "defiers", n_patients=20, n_runs=3, seed=1)
print(result["defiers", "thompson"].surplus.mean)
"""


def test_import_and_simulate_without_fcntl_and_uvloop() -> None:
    here = adhere.simulate(["thompson"], "defiers", n_patients=20, n_runs=3, seed=1)
    assert float(run_without("fcntl", "uvloop", code=SIMULATE)) == here["defiers", "thompson"].surplus.mean


def test_serve_without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    loop = _config(make_app(open_store()), ServiceSettings()).get_loop_factory()
    assert loop is not None
    assert loop.__module__.startswith("asyncio.")
