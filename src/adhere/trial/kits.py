"""Kit codes, which replace arms in a blinded trial: each recommendation has its own, so that they disclose no arm.

A code is the epoch and the index of a recommendation, enciphered with a key that is derived from the trial's first
secret. A kit that was given out and then lost from the log, as after the restore of an older backup, is of an earlier
epoch: its code is no other recommendation's.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from adhere.errors import ConflictError, InputError
from adhere.trial.recommendation_ids import LETTERS, in_groups, plain_letters, spelt
from adhere.trial.trial_secret import kit_key

_HALF_BITS, _ROUNDS = 20, 6
_HALF = 1 << _HALF_BITS
_INDEX_BITS = 24
MAX_KITS = 1 << _INDEX_BITS
_N_EPOCHS = 1 << 2 * _HALF_BITS - _INDEX_BITS  # after which they are counted from 0 again
_N_LETTERS = 2 * _HALF_BITS // 5
_EXPECTED = "the code of a kit of this trial, e.g. 4K7T-9QXA"


class Kit(NamedTuple):
    """The recommendation that a kit was given for: its index, and the epoch in which it was made."""

    epoch: int
    recommendation_index: int

    def is_of(self, epoch: int) -> bool:
        """Return whether it was given out in an epoch."""
        return epoch % _N_EPOCHS == self.epoch


class Kits:
    """The kits of a trial.

    Without a secret there are none: whoever asks for one gets a `ConflictError` that ends in `refusal`.

    >>> kits = Kits("headache", bytes(32))
    >>> kits.code(0, 0), kits.code(0, 1)
    ('...', '...')
    >>> kits.find(kits.code(0, 41).lower())
    Kit(epoch=0, recommendation_index=41)
    """

    def __init__(self, trial: str, secret: bytes | None, refusal: str = "a blinded trial") -> None:
        self._trial, self._key, self._refusal = trial, None if secret is None else kit_key(secret), refusal

    @property
    def usable(self) -> bool:
        """Whether there are any."""
        return self._key is not None

    def check_usable(self, n_made: int = 0) -> None:
        """Refuse what needs kits if there are none, or none that are left after so many recommendations."""
        self._known_key()
        if n_made >= MAX_KITS:
            raise ConflictError("trial", self._trial, f"a blinded trial of at most {MAX_KITS:,} kits")

    def code(self, epoch: int, index: int) -> str:
        """Return the code of a recommendation's kit."""
        key = self._known_key()
        left, right = divmod((epoch % _N_EPOCHS) << _INDEX_BITS | index, _HALF)
        for turn in range(_ROUNDS):
            left, right = right, left ^ _mix(key, turn, right)
        return in_groups(spelt(left * _HALF + right, _N_LETTERS))

    def find(self, code: str) -> Kit:
        """Return what a code stands for; whether such a recommendation was made is for the caller to check."""
        key, letters = self._known_key(), plain_letters(code)
        if len(letters) != _N_LETTERS or not all(letter in LETTERS for letter in letters):
            raise unknown_kit(code)
        number = 0
        for letter in letters:
            number = number * 32 + LETTERS.index(letter)
        left, right = divmod(number, _HALF)
        for turn in reversed(range(_ROUNDS)):
            left, right = right ^ _mix(key, turn, left), left
        return Kit(*divmod(left * _HALF + right, MAX_KITS))

    def _known_key(self) -> bytes:
        if self._key is None:
            raise ConflictError("trial", self._trial, self._refusal)
        return self._key


def unknown_kit(code: str) -> InputError:
    """Return the error for a code that no kit of the trial has."""
    return InputError("kit", code, _EXPECTED)


def _mix(key: bytes, turn: int, half: int) -> int:
    message = bytes([turn]) + half.to_bytes(4, "big")
    digest = hashlib.blake2b(message, digest_size=4, key=key, person=b"adhere kit").digest()
    return int.from_bytes(digest, "big") % _HALF
