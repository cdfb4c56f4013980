"""The secret of a live trial: 256 random bits, from which the keys of its arms and kits are derived.

The key that draws an arm is a keyed BLAKE2b digest of a label and the index of the recommendation, keyed by the
secret. Nobody can compute a key without the secret, and no key reveals anything about another. The log contains a
commitment to the secret from its first record on, so that the secret cannot be chosen afterwards. Some draws do not
choose arms: they only compute probabilities or belong to learning. Their keys are derived from the commitment, so
anybody can compute them.
"""

import hashlib
import hmac
import secrets
from functools import partial
from struct import Struct
from typing import TypeAlias

from adhere.errors import InputError
from adhere.trial.secret.recommendation_ids import N_RANDOM

SECRET_BYTES = 32
new_secret = partial(secrets.token_bytes, SECRET_BYTES)
_TWO_WORDS = Struct(">QQ")
KeyPair: TypeAlias = tuple[int, int]  # the two 64-bit keys of a stream
_ARM, _KITS, _IDS, _PUBLIC, _SEED = b"adhere arm", b"adhere kits", b"adhere ids", b"adhere public", b"adhere seed"


def check_secret(secret: bytes) -> bytes:
    """Return a secret if it has the right length; otherwise raise `InputError`."""
    if len(secret) != SECRET_BYTES:
        raise InputError("secret", f"{len(secret)} bytes", f"{SECRET_BYTES} bytes")
    return secret


def commitment_to(secret: bytes) -> str:
    """Return the digest that commits to a secret in the log."""
    return hashlib.sha256(b"adhere trial secret\0" + check_secret(secret)).hexdigest()


def opens(commitment: str, secret: bytes) -> bool:
    """Return whether a secret matches a commitment."""
    return hmac.compare_digest(commitment_to(secret), commitment)


class ArmKeys:
    """The keys that draw the arms of an epoch and any component of a hybrid policy."""

    def __init__(self, secret: bytes) -> None:
        self._keyed = hashlib.blake2b(digest_size=16, key=check_secret(secret), person=_ARM)

    def at(self, index: int) -> KeyPair:
        """Return the keys of one recommendation."""
        keyed = self._keyed.copy()
        keyed.update(index.to_bytes(8, "big"))
        return _TWO_WORDS.unpack(keyed.digest())


def kit_key(secret: bytes) -> bytes:
    """Return the key that encrypts kit codes."""
    return hashlib.blake2b(digest_size=32, key=secret, person=_KITS).digest()


def public_keys(commitment: str) -> KeyPair:
    """Return the keys of draws that anybody may compute."""
    digest = hashlib.blake2b(commitment.encode(), digest_size=16, person=_PUBLIC).digest()
    return _TWO_WORDS.unpack(digest)


def secret_of_seed(seed: int, run: int = 0) -> bytes:
    """Return the substitute for a secret in trials with a seed: trials in memory and rehearsals."""
    return hashlib.blake2b(seed.to_bytes(8, "big") + run.to_bytes(8, "big"), digest_size=32, person=_SEED).digest()


def id_key(secret: bytes) -> bytes:
    """Return the key that masks the indices in IDs."""
    return hashlib.blake2b(digest_size=32, key=secret, person=_IDS).digest()


def id_bytes(secret: bytes, index: int) -> bytes:
    """Return the random part of a recommendation's ID, for a trial in memory."""
    return hashlib.blake2b(index.to_bytes(8, "big"), digest_size=N_RANDOM, key=secret, person=_IDS).digest()
