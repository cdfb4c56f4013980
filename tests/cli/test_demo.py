"""`adhere demo` as a process of its own: it plays, and however it ends, no process and no file is left."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from adhere.cli import demo as demo_command
from adhere.demo.demo import PEOPLE
from adhere.demo.trials import TRIALS
from demo.process import demo_process
from service.serving import wait_until

from .running import check_complaint, in_this_process


def serves(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionError:
        return False
    return True


def test_it_plays_so_many_patients_and_ends(tmp_path: Path) -> None:
    with demo_process(tmp_path, "--patients", "10") as demo:
        assert demo.process.stdout is not None
        assert demo.process.stdout.read().endswith(
            "The demo has ended; its service, its trials and its file are gone.\n"
        )
        assert demo.process.wait() == 0
    assert not serves(demo.port)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_enter_prints_fresh_links(tmp_path: Path) -> None:
    with demo_process(tmp_path) as demo:
        fresh = demo.press_enter()
        assert len(set(fresh) | set(demo.links)) == 8
        assert all(link.startswith(f"{demo.url}/app/sign-in") for link in fresh)
        demo.process.send_signal(signal.SIGINT)
        assert demo.process.wait(timeout=10) == 0  # though its input is still open


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_it_no_process_and_no_file_is_left(tmp_path: Path, ending: signal.Signals) -> None:
    with demo_process(tmp_path) as demo:
        assert serves(demo.port)
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        demo.process.send_signal(ending)
        assert demo.process.wait(timeout=10) == (-ending if ending is signal.SIGKILL else 0)
    # After SIGKILL it is the service that notices, and deletes the folder last.
    wait_until(lambda: not (serves(demo.port) or list(tmp_path.iterdir())))


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--speed", "0", "a number from 0.01 to 1,000"),
        ("--speed", "fast", "a number"),
        ("--patients", "0", "from 1"),
        ("--port", "65536", "from 0 to 65,535"),
        ("--seed", "-1", "from 0"),
    ],
)
def test_bad_options(capsys: pytest.CaptureFixture[str], option: str, value: str, expected: str) -> None:
    check_complaint(in_this_process(capsys, "demo", option, value), f"{option}: got", value, expected)


def test_what_is_missing_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adhere.cli.demo.find_spec", lambda name: None)
    check_complaint(in_this_process(capsys, "demo"), "needs the service", "pip install")


def test_a_port_in_use_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        check_complaint(in_this_process(capsys, "demo", "--port", port), port, "in use")


def test_five_lines_say_what_to_look_at_first(capsys: pytest.CaptureFixture[str]) -> None:
    running: Any = SimpleNamespace(url="http://127.0.0.1:8000", link=lambda person: f"http://{person.name}")
    demo_command._introduce(running, browser=False)
    shown = capsys.readouterr().out
    steps = [line.strip() for line in shown.splitlines() if re.match(r" *\d\. ", line)]
    assert [step[0] for step in steps] == list("12345")
    assert {name for step in steps for name in re.findall(r"As (\w+)", step)} <= {person.name for person in PEOPLE}
    assert any(trial.name in steps[0] for trial in TRIALS)
