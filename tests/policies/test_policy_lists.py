"""Lists of policies are sorted and complete, wherever they stand."""

from __future__ import annotations

import re

import pytest

from adhere import InputError, parse_policy
from adhere.cli.main import main
from adhere.policies.base.registry import registry
from adhere.service.pages.rendering import environment

OWN = sorted(name for name, cls in registry.items() if cls.__module__.startswith("adhere."))


def test_an_unknown_policy_is_answered_with_all_there_are() -> None:
    with pytest.raises(InputError) as error:
        parse_policy("mystery")
    (named,) = re.findall("expected one of (.*?);", str(error.value))
    assert named.split(", ") == sorted(registry)


def test_the_command_lists_them_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    main(["policies"])
    printed = capsys.readouterr().out
    names = re.findall(r"^([a-z][a-z0-9-]*)$", printed, flags=re.MULTILINE)
    assert names == sorted(registry)


def test_new_trial_has_plain_words_in_order() -> None:
    """A guard is no choice of its own there; a policy without plain words is described by its summary."""
    words = environment().get_template("new-trial/plain-words.html").module.plain_words  # type: ignore[attr-defined]
    assert list(words) == [name for name in OWN if name in words]
    assert set(OWN) - set(words) >= {"burn-in", "floor"}
