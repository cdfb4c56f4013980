"""Codes that stand for recommendations in a blinded trial: a different one each time, so that they betray no arm."""

from __future__ import annotations

import hashlib
import hmac

from adhere.errors import InputError

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U, which look like others
_HALF_BITS, _ROUNDS = 20, 6
_HALF = 1 << _HALF_BITS


def kit_code(seed: int, decision: int) -> str:
    """The code of a decision: the number itself, enciphered by a key that follows from the trial's seed.

    >>> kit_code(1, 0), kit_code(1, 1)
    ('MSTJ-QEGQ', '7XAY-50YX')
    """
    left, right = divmod(decision, _HALF)
    for turn in range(_ROUNDS):
        left, right = right, left ^ _mix(seed, turn, right)
    number = left * _HALF + right
    letters = "".join(_LETTERS[(number >> shift) & 31] for shift in range(35, -5, -5))
    return f"{letters[:4]}-{letters[4:]}"


def decision_of(seed: int, code: str, n_decisions: int) -> int:
    """The decision a code stands for.

    >>> decision_of(1, kit_code(1, 41).lower(), 42)
    41
    """
    letters = code.upper().replace("-", "").replace(" ", "")
    if len(letters) == 8 and all(letter in _LETTERS for letter in letters):
        number = 0
        for letter in letters:
            number = number * 32 + _LETTERS.index(letter)
        left, right = divmod(number, _HALF)
        for turn in reversed(range(_ROUNDS)):
            left, right = right ^ _mix(seed, turn, left), left
        if left * _HALF + right < n_decisions:
            return left * _HALF + right
    raise InputError("kit", code, "the code of a kit of this trial, e.g. 4K7T-9QXA")


def _mix(seed: int, turn: int, half: int) -> int:
    digest = hmac.digest(b"kit" + seed.to_bytes(8, "big"), bytes([turn]) + half.to_bytes(4, "big"), hashlib.sha256)
    return int.from_bytes(digest[:4], "big") % _HALF
