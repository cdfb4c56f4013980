"""What a client refuses before or after it asks: addresses, tokens, options and values of calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import adhere
import adhere_client
from adhere.trial.secret.recommendation_ids import EXAMPLE
from service.both_clients import BOTH, MakeClient
from service.serving import ARMS, Service

SECRET = "adh_do-not-show"
Call = Callable[[Any, str], object]


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
@pytest.mark.parametrize(
    ("token", "got"),
    [
        ("", "empty text"),
        (" \n", "empty text"),
        (f"{SECRET} and more", "text with a space or a line break in it"),
        (f"{SECRET}\nEvil: header", "text with a space or a line break in it"),
        (f"{SECRET}ü", "text with characters that no token has"),
        (f"{SECRET}\x00", "text with a control character in it"),
        (None, "a value of type NoneType"),
        (SECRET.encode(), "a value of type bytes"),
    ],
)
def test_no_token(make: MakeClient, token: str, got: str) -> None:
    with pytest.raises(adhere.InputError, match=rf"token: got {got} \(not shown\), expected the text") as caught:
        make("http://127.0.0.1:9", token)
    assert SECRET not in f"{caught.value!r}{caught.value}"
    assert caught.value.__cause__ is None
    with pytest.raises(adhere_client.InputError, match="token"):
        adhere_client.Client("http://127.0.0.1:9", token)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000",
        "ftp://127.0.0.1",
        "http://",
        "http://a b",
        "http://h:port",
        "http://h:99999",
        "http://h?x=1",
        None,
        "http://" + "a" * 70 + ".b",
    ],
)
def test_no_address(url: str) -> None:
    with pytest.raises(adhere.InputError, match=r"url: got .*, expected the address of a service, such as http://"):
        adhere.Client(url, SECRET)


def test_an_address_with_a_password_is_not_shown() -> None:
    with pytest.raises(adhere.InputError, match="the token apart from it") as caught:
        adhere.Client("http://me:pass-word@host", SECRET)
    assert "pass-word" not in str(caught.value)


BAD_VALUES: dict[str, tuple[str, Call]] = {
    "a text of arms": ("arms", lambda client, trial: client.create_trial("t", "uniform", "walk")),
    "no arms": ("arms", lambda client, trial: client.create_trial("t", "uniform", None)),
    "one reward": (
        "reward_values",
        lambda client, trial: client.create_trial("t", "uniform", ARMS, reward_values=1),
    ),
    "a seed below 0": (
        "seed",
        lambda client, trial: client.create_trial("t", "uniform", ARMS, seed=-1, rehearsal=True),
    ),
    "half a seed": (
        "seed",
        lambda client, trial: client.create_trial("t", "uniform", ARMS, seed=0.5, rehearsal=True),
    ),
    "a seed for a trial": ("seed", lambda client, trial: client.create_trial("t", "uniform", ARMS, seed=7)),
    "a policy that is none": ("policy", lambda client, trial: client.create_trial("t", None, ARMS)),
    "an object": ("request", lambda client, trial: client.recommend(trial, object())),
    "half a character": ("request", lambda client, trial: client.recommend(trial, "\ud800")),
    "half a character in a name": ("trial", lambda client, trial: client.recommend("\ud800", "S-1")),
    "no name": ("trial", lambda client, trial: client.trial("")),
    "a number for a name": ("trial", lambda client, trial: client.results(7)),
    "a number for a subject": ("subject", lambda client, trial: client.recommend(trial, 7)),
    "not a number": ("reward", lambda client, trial: client.report(trial, EXAMPLE, reward=float("nan"))),
    "a text for a reward": ("reward", lambda client, trial: client.report(trial, EXAMPLE, reward="1")),
    "a part as a text": ("retract", lambda client, trial: client.correct(trial, EXAMPLE, "why", retract="reward")),
    "no time": ("happened", lambda client, trial: client.report(trial, EXAMPLE, actual="walk", happened="yesterday")),
    "a number for a recommendation": ("recommendation", lambda client, trial: client.report(trial, 0, reward=1)),
    "no recommendation": ("recommendation", lambda client, trial: client.recommendation(trial, "")),
    "a path for a recommendation": ("recommendation", lambda client, trial: client.withdraw(trial, "..", "why")),
    "half a character in an ID": ("recommendation", lambda client, trial: client.derive_again(trial, "\ud800")),
    "an empty id": ("request_id", lambda client, trial: client.recommend(trial, "S-1", request_id="")),
    "a line break in an id": ("request_id", lambda client, trial: client.recommend(trial, "S-1", request_id="a\nb")),
    "an id too long": ("request_id", lambda client, trial: client.recommend(trial, "S-1", request_id="a" * 201)),
    "an overlap in seconds": ("overlap", lambda client, trial: client.rotate_token(1, overlap=60)),
    "a role": ("role", lambda client, trial: client.make_token("king", "x")),
    "a format": ("format", lambda client, trial: client.export(trial, "t.csv", "xlsx")),
}


@pytest.mark.parametrize(("field", "call"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_bad_values(
    service: Service, field: str, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trial = service.new_trial()
    with adhere.Client(service.url, service.admin, tries=0) as client:
        client.recommend(trial, "S-1")
        before = client.trial(trial).head, list(client.trials())
        with pytest.raises(adhere.InputError) as caught:
            call(client, trial)
        assert caught.value.field == field
        assert len(str(caught.value).splitlines()) == 1
        assert (client.trial(trial).head, list(client.trials())) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("field", "options"),
    [("timeout", {"timeout": value}) for value in (0, -1.0, float("inf"), float("nan"), "30", None, True)]
    + [("tries", {"tries": value}) for value in (-1, 0.5, "2", None, True)],
)
def test_bad_options(field: str, options: dict[str, Any]) -> None:
    with pytest.raises(adhere.InputError, match=f"{field}: got "):
        adhere.Client("http://127.0.0.1:9", SECRET, **options)
