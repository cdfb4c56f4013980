"""IDs of recommendations: sixteen letters and digits that look random, for people to read aloud.

The last ten characters are drawn at random. The first six encode the recommendation's index, masked by a keyed digest
of the last ten. The service finds a recommendation by its ID without searching, and nobody else can tell an order or
a gap. An ID may be given out and then lost, for example after an older backup is restored. It is never given out
again: another recommendation with the same index has other random letters, and the service compares all letters of an
ID.
"""

import os
import re
import threading
from hashlib import blake2b
from typing import Final

_AT_ONCE = 4096
_lock = threading.Lock()
_pool, _used = b"", 0


def random_bytes(n: int) -> bytes:
    """Return n unpredictable random bytes, for IDs and salts but not for secrets that outlive the process.

    >>> len(random_bytes(10)), random_bytes(10) == random_bytes(10)
    (10, False)
    """
    global _pool, _used
    with _lock:
        if _used + n > len(_pool):
            _pool, _used = os.urandom(max(n, _AT_ONCE)), 0
        _used += n
        return _pool[_used - n : _used]


def _begin_anew() -> None:
    """Reset the pool in a child process, which copies its parent's unused bytes and perhaps a locked lock."""
    global _lock, _pool, _used
    _lock, _pool, _used = threading.Lock(), b"", 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


LETTERS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: without I, L, O and U, which are easily misread
EXAMPLE: Final = "4K7T-9QXA-M98F-RJCB"
N_RANDOM: Final = 10  # number of letters
_N_LETTERS, _N_MASKED = 16, 6
_LETTER_OF_BYTE = bytes(ord(LETTERS[byte % 32]) for byte in range(256))
_PAIRS = [first + second for first in LETTERS for second in LETTERS]
_VALUES = {pair: value for value, pair in enumerate(_PAIRS)}
_MASK = (1 << 5 * _N_MASKED) - 1
_AS_WRITTEN = re.compile(f"[{LETTERS}]{{4}}(?:-[{LETTERS}]{{4}}){{3}}")
_MAX_LATEST = 4096
_READ_AS = str.maketrans({"O": "0", "I": "1", "L": "1"})


class RecommendationIds:
    """The IDs of one trial.

    >>> ids = RecommendationIds(bytes(32))
    >>> ids.index_of(ids.new(41))
    41
    """

    def __init__(self, key: bytes) -> None:
        self._key = key  # put before the digested bytes: BLAKE2's own key costs a block more
        self._latest: dict[str, int] = {}  # indices by ID: an ID is often looked up several times, soon after another

    def new(self, index: int) -> str:
        """Draw the ID of a recommendation."""
        return self.with_bytes(index, random_bytes(N_RANDOM))

    def with_bytes(self, index: int, given: bytes) -> str:
        """Return the ID of a recommendation. Ten given bytes determine its last ten letters."""
        tail = given.translate(_LETTER_OF_BYTE)
        masked = index ^ (int.from_bytes(blake2b(self._key + tail, digest_size=4).digest(), "big") & _MASK)
        letters = _PAIRS[masked >> 20] + _PAIRS[masked >> 10 & 1023] + _PAIRS[masked & 1023] + tail.decode("ascii")
        made = f"{letters[:4]}-{letters[4:8]}-{letters[8:12]}-{letters[12:]}"
        self._keep(made, index)
        return made

    def index_of(self, recommendation_id: str) -> int | None:
        """Return the index that an ID encodes, or None if the text is not an ID.

        The caller must check whether that recommendation has this ID.
        """
        if (known := self._latest.get(recommendation_id)) is not None:
            return known
        letters = recommendation_id.replace("-", "")
        try:
            masked = _VALUES[letters[:2]] << 20 | _VALUES[letters[2:4]] << 10 | _VALUES[letters[4:6]]
            tail = letters[_N_MASKED:].encode("ascii")
        except (KeyError, UnicodeEncodeError):
            return None
        index = masked ^ (int.from_bytes(blake2b(self._key + tail, digest_size=4).digest(), "big") & _MASK)
        self._keep(recommendation_id, index)
        return index

    def _keep(self, recommendation_id: str, index: int) -> None:
        if len(self._latest) >= _MAX_LATEST:
            self._latest = {}
        self._latest[recommendation_id] = index


def in_groups(letters: str) -> str:
    """Join letters in groups of four."""
    return "-".join(letters[first : first + 4] for first in range(0, len(letters), 4))


def plain_letters(text: str, n: int) -> str | None:
    """Return the n letters of a code as typed, or None if the text is not such a code.

    Lower-case letters, O for 0, blanks and missing hyphens are accepted.
    """
    letters = "".join(text.upper().replace("-", " ").split()).translate(_READ_AS)
    return letters if len(letters) == n and all(letter in LETTERS for letter in letters) else None


def parse_id(text: str) -> str | None:
    """Return the ID in a text as typed, or None if the text is not an ID.

    >>> parse_id("4k7t 9qxa m98f rjcb"), parse_id("17")
    ('4K7T-9QXA-M98F-RJCB', None)
    """
    if _AS_WRITTEN.fullmatch(text):  # the form that clients send
        return text
    letters = plain_letters(text, _N_LETTERS)
    return None if letters is None else in_groups(letters)
