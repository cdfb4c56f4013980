"""Hand over the first admin token: on a terminal, or in a file for its owner only."""

from __future__ import annotations

import sys
from pathlib import Path

from adhere.errors import InputError
from adhere.files import make_private
from adhere.store import Store
from adhere.tokens import Tokens

_OPTION = "--admin-token-file"


def announce_first_token(store: Store, file: str | None) -> None:
    """Make an admin token if the store never had a token.

    A pipe is refused: what reads it, such as systemd's journal, would keep the token for many to see.
    """
    tokens = Tokens(store)
    if tokens.all():
        return
    if file is not None:
        _write(tokens, Path(file))
        return
    if sys.stdout is None or not sys.stdout.isatty():
        expected = "a new file for the first admin token"
        sentence = (
            f"{_OPTION} FILE is needed at the first start: standard output is not a terminal to show the token on"
        )
        raise InputError(_OPTION, None, expected, sentence)
    if text := tokens.make_first():
        print(f"The first admin token, shown only now: {text}", flush=True)


def _write(tokens: Tokens, path: Path) -> None:
    try:
        make_private(path)
    except OSError as error:
        raise InputError(
            _OPTION, str(path), f"a new file in a folder that may be written ({error.strerror})"
        ) from None
    text = None
    try:
        text = tokens.make_first()
    finally:
        if text is None:  # it failed, or another process was first
            path.unlink()
    if text is not None:
        path.write_text(f"{text}\n", encoding="utf-8")
        print(f"The first admin token is in {path}", flush=True)
