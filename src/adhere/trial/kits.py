"""Kit codes, which replace arms in a blinded trial: each recommendation has its own, so that they disclose no arm."""

from __future__ import annotations

import hashlib
import hmac

from adhere.errors import InputError

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U, which look like others
_HALF_BITS, _ROUNDS = 20, 6
_HALF = 1 << _HALF_BITS


def kit_code(seed: int, recommendation_id: int) -> str:
    """The code of a recommendation: its id, enciphered with a key derived from the trial's seed.

    >>> kit_code(1, 0), kit_code(1, 1)
    ('MSTJ-QEGQ', '7XAY-50YX')
    """
    left, right = divmod(recommendation_id, _HALF)
    for turn in range(_ROUNDS):
        left, right = right, left ^ _mix(seed, turn, right)
    number = left * _HALF + right
    letters = "".join(_LETTERS[(number >> shift) & 31] for shift in range(35, -5, -5))
    return f"{letters[:4]}-{letters[4:]}"


def recommendation_of_kit(seed: int, code: str, n_recommendations: int) -> int:
    """The id of the recommendation with this code.

    >>> recommendation_of_kit(1, kit_code(1, 41).lower(), 42)
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
        if left * _HALF + right < n_recommendations:
            return left * _HALF + right
    raise InputError("kit", code, "the code of a kit of this trial, e.g. 4K7T-9QXA")


def _mix(seed: int, turn: int, half: int) -> int:
    digest = hmac.digest(b"kit" + seed.to_bytes(8, "big"), bytes([turn]) + half.to_bytes(4, "big"), hashlib.sha256)
    return int.from_bytes(digest[:4], "big") % _HALF
