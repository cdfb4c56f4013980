"""Derive the keys of a trial's draws: from its secrets, epoch by epoch, or from a seed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

from adhere.checks import is_integer
from adhere.errors import InputError, SecretUnknownError
from adhere.randomness import check_seed, stream_keys
from adhere.trial.secret.kits import Kits
from adhere.trial.secret.recommendation_ids import RecommendationIds
from adhere.trial.secret.trial_secret import ArmKeys, KeyPair, id_bytes, id_key, opens, public_keys, secret_of_seed

SecretFinder: TypeAlias = Callable[[str], bytes | None]  # returns the secret of a commitment, or None
_SO = "so it cannot recommend, take reports by kit, or unblind"


def seeded_keys(seed: object, run: int = 0) -> TrialKeys:
    """Return the keys of a trial in memory, derived from its seed and run."""
    if not is_integer(run) or run < 0:
        raise InputError("run", run, "a whole number, at least 0")
    return SeededKeys(seed=check_seed(seed), run=int(run))


class TrialKeys:
    """The keys of a trial's draws.

    An epoch is named by the commitment to its secret; the empty commitment stands for the seed. Secrets are looked up
    when they are first needed. Without them, everything except the draws of arms and kits can be computed.
    """

    def __init__(
        self,
        commitment: str = "",
        seed: int | None = None,
        run: int = 0,
        find: SecretFinder = lambda commitment: None,
    ) -> None:
        self.commitment, self._find = commitment, find
        self._secrets: dict[str, bytes] = {}
        self._arms: dict[str, ArmKeys] = {}
        self._seeded: KeyPair | None = None
        if seed is not None:
            outer, middle = stream_keys(check_seed(seed), run, 1)[0].tolist()
            self._seeded = outer, middle
            self._secrets[""] = secret_of_seed(check_seed(seed), run)
        self.public: KeyPair = self._seeded or public_keys(commitment)

    def secret(self, commitment: str) -> bytes | None:
        """Return the secret of an epoch, or None if it is not known here. Raise an error if it does not match."""
        if commitment not in self._secrets:
            found = self._find(commitment)
            if found is None:
                return None
            if not opens(commitment, found):
                raise SecretUnknownError(f"the stored secret does not match the commitment {commitment[:8]}…")
            self._secrets[commitment] = found
        return self._secrets[commitment]

    def add(self, commitment: str, secret: bytes) -> None:
        """Remember a secret that was just drawn; views of the store may not contain it yet."""
        self._secrets[commitment] = secret

    def has(self, commitment: str) -> bool:
        """Return whether the secret of an epoch was already found."""
        return commitment in self._secrets

    def check(self, commitment: str) -> None:
        """Raise a `SecretUnknownError` if the secret of an epoch is not known here."""
        if commitment not in self._secrets and self.secret(commitment) is None:
            raise SecretUnknownError(
                f"the secret with the commitment {commitment[:8]}… is not known here: it is neither in the store nor "
                "in a file of secrets (--secret-file)"
            )

    def at(self, commitment: str, index: int) -> KeyPair:
        """Return the keys that draw the arm of a recommendation in an epoch."""
        if not commitment and self._seeded is not None:
            return self._seeded
        if (keys := self._arms.get(commitment)) is None:
            self.check(commitment)
            keys = self._arms[commitment] = ArmKeys(self._secrets[commitment])
        return keys.at(index)

    @cached_property
    def ids(self) -> RecommendationIds:
        """The IDs of the trial's recommendations, masked by its first secret."""
        self.check(self.commitment)
        return RecommendationIds(id_key(self._secrets[self.commitment]))

    def new_id(self, index: int) -> str:
        """Return the ID of a new recommendation."""
        return self.ids.new(index)

    def kits(self, trial: str, *, blinded: bool) -> Kits:
        """Return the kits of a trial, derived from its secrets. A trial that is not blinded has none."""
        if not blinded:
            return Kits(trial, None)
        try:
            secret = self.secret(self.commitment)
        except SecretUnknownError:
            why = f"a trial with a matching secret; the secret stored here does not match, {_SO}"
            return Kits(trial, None, why)
        return Kits(trial, secret, f"a trial with its secret stored here; this one's is missing, {_SO}", self.secret)


class SeededKeys(TrialKeys):
    """The keys of a trial in memory. Its IDs are derived from its seed, too."""

    def new_id(self, index: int) -> str:
        """Return the ID of a recommendation."""
        return self.ids.with_bytes(index, id_bytes(self._secrets[""], index))
