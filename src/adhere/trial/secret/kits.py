"""Kit codes, which replace arms in a blinded trial. Each recommendation has its own code, so that codes disclose no
arm.

A code encrypts the index of a recommendation, preceded by zeros. The key is derived from the secret of the epoch in
which the recommendation was made. A kit may be given out and then lost from the log, for example after an older
backup is restored. Its epoch is then missing from the log, and its code matches no other recommendation.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from adhere.errors import ConflictError, InputError
from adhere.trial.secret.recommendation_ids import LETTERS, in_groups, plain_letters
from adhere.trial.secret.trial_secret import kit_key

_HALF_BITS, _ROUNDS = 20, 6
_HALF = 1 << _HALF_BITS
MAX_KITS = 1 << 24  # the other 16 bits of a code are zeros, which a code of another epoch hardly ever has
_N_LETTERS = 2 * _HALF_BITS // 5
_EXPECTED = "the code of a kit of this trial, e.g. 4K7T-9QXA"


class Kit(NamedTuple):
    """The recommendation of a kit: its index, and the epoch in which it was made."""

    epoch: str
    recommendation_index: int


class Kits:
    """The kits of a trial.

    Epochs are named as in `Recommended.epoch`: the first by an empty text, the others by their commitments. `find`
    returns the secret of a commitment. Without the first secret there are no kits, and every request for a kit raises
    a `ConflictError` with a message that ends in `refusal`.

    >>> kits = Kits("headache", bytes(32))
    >>> kits.code("", 0), kits.code("", 1)
    ('...', '...')
    >>> next(kits.candidates(kits.code("", 41).lower(), [""]))
    Kit(epoch='', recommendation_index=41)
    """

    def __init__(
        self,
        trial: str,
        secret: bytes | None,
        refusal: str = "a blinded trial",
        find: Callable[[str], bytes | None] = lambda commitment: None,
    ) -> None:
        self._trial, self._refusal, self._find = trial, refusal, find
        self._keys = {} if secret is None else {"": kit_key(secret)}

    @property
    def usable(self) -> bool:
        """Whether the trial has kits."""
        return bool(self._keys)

    def check_usable(self, n_made: int = 0) -> None:
        """Raise `ConflictError` if the trial has no kits, or no kits left after `n_made` recommendations."""
        if not self._keys:
            raise ConflictError("trial", self._trial, self._refusal)
        if n_made >= MAX_KITS:
            raise ConflictError("trial", self._trial, f"a blinded trial of at most {MAX_KITS:,} kits")

    def code(self, epoch: str, index: int) -> str:
        """Return the code of a recommendation's kit."""
        key, (left, right) = self._key(epoch), divmod(index, _HALF)
        for turn in range(_ROUNDS):
            left, right = right, left ^ _mix(key, turn, right)
        number = left * _HALF + right
        return in_groups("".join(LETTERS[number >> 5 * place & 31] for place in reversed(range(_N_LETTERS))))

    def candidates(self, code: str, epochs: Iterable[str]) -> Iterator[Kit]:
        """Yield the kit that a code may belong to in each epoch.

        The caller must check whether such a recommendation was made in that epoch.
        """
        self.check_usable()
        letters = plain_letters(code, _N_LETTERS)
        if letters is None:
            raise unknown_kit(code)
        number = 0
        for letter in letters:
            number = number * 32 + LETTERS.index(letter)
        for epoch in epochs:
            key, (left, right) = self._key(epoch), divmod(number, _HALF)
            for turn in reversed(range(_ROUNDS)):
                left, right = right ^ _mix(key, turn, left), left
            if left * _HALF + right < MAX_KITS:
                yield Kit(epoch, left * _HALF + right)

    def _key(self, epoch: str) -> bytes:
        self.check_usable()
        if epoch not in self._keys:
            secret = self._find(epoch)
            if secret is None:
                missing = f"a trial with all its secrets stored here; the secret of the epoch {epoch[:8]}… is missing"
                raise ConflictError("trial", self._trial, missing)
            self._keys[epoch] = kit_key(secret)
        return self._keys[epoch]


def unknown_kit(code: str) -> InputError:
    """Return the error for a code that matches no kit of the trial."""
    return InputError("kit", code, _EXPECTED)


def _mix(key: bytes, turn: int, half: int) -> int:
    message = bytes([turn]) + half.to_bytes(4, "big")
    digest = hashlib.blake2b(message, digest_size=4, key=key, person=b"adhere kit").digest()
    return int.from_bytes(digest, "big") % _HALF
