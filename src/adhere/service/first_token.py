"""Hand over the first admin token: on a terminal, or in a file for its owner only."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

from adhere.access.tokens import Tokens
from adhere.errors import InputError, OutcomeUnknownError
from adhere.files import make_private, may_pass
from adhere.store import Store

_OPTION = "--admin-token-file"


def announce_first_token(store: Store, file: str | None) -> None:
    """Make an admin token if the store never had a token.

    A pipe is refused: what reads it, such as systemd's journal, would keep the token for many to see.
    """
    tokens = Tokens(store)
    if tokens.all():
        if file is not None:
            _finish(tokens, Path(file))
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
    """Write the token beside its place, then store it, then move it: neither is lost if the machine stops between."""
    part = _part(path)
    text = None
    try:
        if path.exists() or path.is_symlink():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        part.unlink(missing_ok=True)
        make_private(part)
        text = tokens.make_first(deliver=partial(_fill, part))
    except OutcomeUnknownError:
        raise  # the file stays: the next try finds out whether the token in it counts
    except OSError as error:
        _delete(part)
        if may_pass(error):
            raise
        raise InputError(
            _OPTION, str(path), f"a new file in a folder that may be written ({error.strerror})"
        ) from None
    except BaseException:
        _delete(part)
        raise
    if text is None:  # another process was first
        _delete(part)
    else:
        _move(part, path)


def _finish(tokens: Tokens, path: Path) -> None:
    """Move a token to its place if the machine stopped after it was stored."""
    part = _part(path)
    with suppress(OSError):
        if not path.exists() and tokens.find(part.read_bytes().strip()) is not None:
            _move(part, path)


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _fill(part: Path, text: str) -> None:
    with part.open("w", encoding="utf-8") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())


def _move(part: Path, path: Path) -> None:
    part.replace(path)
    print(f"The first admin token is in {path}", flush=True)


def _delete(part: Path) -> None:
    with suppress(OSError):
        part.unlink(missing_ok=True)
