"""Kit codes, which replace arms in a blinded trial: each recommendation has its own, so that they disclose no arm.

They are keyed by a secret of the trial that is kept beside its log, never in it; the log has the secret's digest. The
seed does not take part: two kits and a guess of the seed must not be enough to see that the guess is right.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import partial

from adhere.errors import ConflictError, InputError
from adhere.trial.events import Created

SECRET_BYTES = 32
new_kit_secret = partial(secrets.token_bytes, SECRET_BYTES)

_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U, which look like others
_HALF_BITS, _ROUNDS = 20, 6
_HALF = 1 << _HALF_BITS
_SO = "so it cannot recommend, take reports by kit, or unblind"


class Kits:
    """The kits of a trial.

    Without a secret there are none: whoever asks for one gets a `ConflictError` that ends in `refusal`.

    >>> kits = Kits("headache", bytes(32))
    >>> kits.code(0), kits.code(1)
    ('M98F-RJCB', '6EVR-0ACF')
    >>> kits.recommendation_id(kits.code(41).lower(), 42)
    41
    """

    def __init__(self, trial: str, secret: bytes | None, refusal: str = "a blinded trial") -> None:
        if secret is not None and len(secret) != SECRET_BYTES:
            raise InputError("kit secret", f"{len(secret)} bytes", f"{SECRET_BYTES} bytes")
        self._trial, self._secret, self._refusal = trial, secret, refusal

    @property
    def usable(self) -> bool:
        """Whether there are any."""
        return self._secret is not None

    def check_usable(self) -> None:
        """Refuse what needs kits if there are none."""
        self._known_secret()

    def code(self, recommendation_id: int) -> str:
        """The code of a recommendation: its id, enciphered with a key derived from the secret."""
        secret = self._known_secret()
        left, right = divmod(recommendation_id, _HALF)
        for turn in range(_ROUNDS):
            left, right = right, left ^ _mix(secret, turn, right)
        number = left * _HALF + right
        letters = "".join(_LETTERS[(number >> shift) & 31] for shift in range(35, -5, -5))
        return f"{letters[:4]}-{letters[4:]}"

    def recommendation_id(self, code: str, n_recommendations: int) -> int:
        """The id of the recommendation with this code."""
        secret = self._known_secret()
        letters = code.upper().replace("-", "").replace(" ", "")
        if len(letters) == 8 and all(letter in _LETTERS for letter in letters):
            number = 0
            for letter in letters:
                number = number * 32 + _LETTERS.index(letter)
            left, right = divmod(number, _HALF)
            for turn in reversed(range(_ROUNDS)):
                left, right = right ^ _mix(secret, turn, left), left
            if left * _HALF + right < n_recommendations:
                return left * _HALF + right
        raise InputError("kit", code, "the code of a kit of this trial, e.g. 4K7T-9QXA")

    def _known_secret(self) -> bytes:
        if self._secret is None:
            raise ConflictError("trial", self._trial, self._refusal)
        return self._secret


def kits_of(created: Created, secret: bytes | None) -> Kits:
    """The kits of a trial, from its first record and the secret that is kept beside its log."""
    name = created.design.name
    if not created.design.blinded:
        return Kits(name, None)
    if not created.kit_secret_digest:
        refusal = f"one whose kits have a secret; this one was created before kits had a secret, {_SO}"
    elif secret is None:
        refusal = f"one whose kit secret is in the store; this one's is missing, {_SO}"
    elif not is_kit_secret(created, secret):
        refusal = f"one whose kit secret fits its first record; the secret in the store is another, {_SO}"
    else:
        return Kits(name, secret)
    return Kits(name, None, refusal)


def is_kit_secret(created: Created, secret: bytes) -> bool:
    """Whether a secret is that of a trial, by the digest in its first record."""
    return hmac.compare_digest(kit_secret_digest(secret), created.kit_secret_digest)


def kit_secret_digest(secret: bytes) -> str:
    """The digest that stands for a secret in the log."""
    return hashlib.sha256(b"adhere kit secret\0" + secret).hexdigest()


def _mix(secret: bytes, turn: int, half: int) -> int:
    message = bytes([turn]) + half.to_bytes(4, "big")
    digest = hashlib.blake2b(message, digest_size=4, key=secret, person=b"adhere kit").digest()
    return int.from_bytes(digest, "big") % _HALF
