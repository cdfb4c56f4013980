"""Settings: a flag over an environment variable over the file over the default, and nothing unknown."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from adhere.errors import InputError
from adhere.service.settings import SETTINGS, ServiceSettings
from adhere.service.settings_sources import check_settings, check_value, read_settings, settings_toml
from adhere.store import DEADLINE
from cli.running import check_complaint, in_this_process


def _file(folder: Path, text: str) -> Path:
    path = folder / "adhere.toml"
    path.write_text(text)
    return path


def test_a_flag_goes_before_a_variable_before_the_file_before_the_default(tmp_path: Path) -> None:
    file = _file(tmp_path, "port = 1\nworkers = 1\nfailure_rate = 1")
    read = read_settings(
        {"port": "3", "host": None, "imports": []}, file, {"ADHERE_PORT": "2", "ADHERE_FAILURE_RATE": "2.5"}
    )
    found = [
        (getattr(read.settings, name), read.sources[name]) for name in ("port", "failure_rate", "workers", "host")
    ]
    assert found == [(3, "flag"), (2.5, "environment"), (1, "file"), ("127.0.0.1", "default")]


def test_the_file_may_be_named_by_a_variable(tmp_path: Path) -> None:
    file = _file(tmp_path, 'trusted_proxies = ["10.0.0.0/8"]')
    assert read_settings({}, None, {"ADHERE_SETTINGS": str(file)}).settings.trusted_proxies == ("10.0.0.0/8",)


def test_lists_are_separated_by_commas() -> None:
    read = read_settings({"imports": ["a.py,b.py", "c.py"]}, None, {"ADHERE_TRUSTED_PROXIES": "::1, 127.0.0.1"})
    assert read.settings.imports == ("a.py", "b.py", "c.py")
    assert read.settings.trusted_proxies == ("::1", "127.0.0.1")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prot = 1", r"adhere.toml: got 'prot', expected a setting that exists \(did you mean port\?\)"),
        ("[port]\nx = 1", r"adhere.toml: port: got {'x': 1}, expected a whole number"),
        ("port = '1'", r"adhere.toml: port: got '1', expected a whole number"),
        ("port = 65536", r"adhere.toml: port: got 65536, expected a whole number of at most 65535"),
        ("failure_rate = 0", r"adhere.toml: failure_rate: got 0, expected a number of more than 0"),
        ("failure_rate = nan", r"adhere.toml: failure_rate: got nan, expected a finite number"),
        ("log_level = 'loud'", r"log_level: got 'loud', expected debug, info, warning or error"),
        ("trusted_proxies = ['nginx']", r"trusted_proxies: got \['nginx'\], expected IP addresses or networks"),
        ("root_path = 'adhere/'", r"root_path: got 'adhere/', expected a path such as /adhere"),
        ("port = ", r"settings: got '.*', expected valid TOML: Invalid value \(at end of document\)"),
        ('cors_origins = "https://a.example"', r"a list: \[\"https://a.example\"\]"),
    ],
)
def test_what_is_unknown_or_invalid_in_the_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_settings({}, _file(tmp_path, text), {})


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    empty = {"ADHERE_PORT": "", "ADHERE_DATABASE_URL": "", "ADHERE_SETTINGS": ""}
    assert read_settings({}, None, empty).settings == ServiceSettings()


def test_unknown_variables_are_refused() -> None:
    with pytest.raises(InputError, match=r"'ADHERE_PROT', expected a setting that exists \(did you mean ADHERE_PORT"):
        read_settings({}, None, {"ADHERE_PROT": "80"})
    read_settings({}, None, {"ADHERE_CACHE_DIR": "/tmp", "ADHERE_TOKEN": "adh_", "PATH": "/bin"})


def test_two_places_for_the_trials_are_refused() -> None:
    url = {"ADHERE_DATABASE_URL": "postgresql://me:secret@db/trials"}
    with pytest.raises(InputError, match=r"data: got 'a.db', expected either data \(flag\) or database_url"):
        read_settings({"data": "a.db"}, None, url)


@pytest.mark.parametrize("url", ["mysql://me:secret@db/trials", "postgresql://me:***@db/trials"])
def test_a_refused_secret_is_not_shown(url: str) -> None:
    with pytest.raises(InputError, match=r"ADHERE_DATABASE_URL: got '\*\*\*'") as refused:
        read_settings({}, None, {"ADHERE_DATABASE_URL": url})
    assert "secret" not in str(refused.value)


def test_what_is_shown_can_be_read_back(tmp_path: Path) -> None:
    flags = {"port": "80", "cors_origins": ["https://a.example,*"], "log_file": 'odd "name" \\.log', "data": "é.db"}
    read = read_settings(flags, None, {})
    again = read_settings({}, _file(tmp_path, settings_toml(read)), {})
    assert again.settings == read.settings


def test_secrets_are_hidden_when_shown() -> None:
    url = "postgresql://me:se/c@ret@db/trials?sslpassword=secret&x=1"
    shown = settings_toml(read_settings({"database_url": url}, None, {}))
    assert tomllib.loads(shown)["database_url"] == "postgresql://me:***@db/trials?sslpassword=***&x=1"


def test_the_command_shows_settings(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADHERE_WORKERS", "1")
    finished = in_this_process(capsys, "serve", "--show-settings", "--port", "1")
    assert finished.status == 0
    assert "port = 1  # flag\nworkers = 1  # environment\n" in finished.out
    conflicting = in_this_process(capsys, "serve", "--show-settings", "--workers", "2")
    assert conflicting.status == 2
    assert "workers = 2  # flag\n" in conflicting.out
    assert conflicting.err.startswith("error: workers: got 2, expected 1: only PostgreSQL")
    check_complaint(in_this_process(capsys, "serve", "--port", "x"), "--port: got 'x', expected a whole number")


def test_help_has_every_setting_in_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    shown = in_this_process(capsys, "serve", "--help").out
    for setting in SETTINGS.values():
        assert f"  {setting.flag}" in shown
        assert f"\n{setting.group}:\n" in shown


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=list(SETTINGS))
def test_every_setting_is_declared_whole(setting: Any) -> None:
    assert setting.description.endswith(".")
    assert check_value(setting, setting.default, setting.name) == setting.default


def test_the_deadline_is_that_of_the_stores() -> None:
    assert SETTINGS["store_deadline"].default == DEADLINE


def test_what_must_hold_between_settings() -> None:
    with pytest.raises(InputError, match="tls_key: got None, expected a file, since tls_certificate is given"):
        check_settings(ServiceSettings(tls_certificate="a.pem"))
    check_settings(ServiceSettings(database_url="postgresql://db/trials", workers=4))
