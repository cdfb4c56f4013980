"""IDs of recommendations: 80 random bits in sixteen letters and digits, for people to read aloud.

An ID says nothing about the order of recommendations, and one that was given out and then lost, as after the restore
of an older backup, is never given out again.
"""

from __future__ import annotations

import secrets
from typing import Final

ID_BYTES: Final = 10
LETTERS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: without I, L, O and U, which look like others
EXAMPLE: Final = "4K7T-9QXA-M98F-RJCB"
_LENGTH = ID_BYTES * 8 // 5
_READ_AS = str.maketrans({"O": "0", "I": "1", "L": "1"})


def new_id() -> str:
    """Draw the ID of a recommendation."""
    return id_of(secrets.token_bytes(ID_BYTES))


def id_of(bits: bytes) -> str:
    """Write 80 bits as an ID.

    >>> id_of(bytes(range(10)))
    '000G-40R4-0M30-E209'
    """
    return in_groups(spelt(int.from_bytes(bits, "big"), _LENGTH))


def spelt(number: int, length: int) -> str:
    """Spell a number in letters and digits, five bits each."""
    return "".join(LETTERS[(number >> shift) & 31] for shift in range(5 * (length - 1), -5, -5))


def in_groups(letters: str) -> str:
    """Join letters in groups of four."""
    return "-".join(letters[first : first + 4] for first in range(0, len(letters), 4))


def plain_letters(text: str) -> str:
    """Return the letters of a code as it may be typed: small letters, O for 0, without hyphens or with blanks."""
    return "".join(text.upper().replace("-", " ").split()).translate(_READ_AS)


def parse_id(text: str) -> str | None:
    """Return the ID in a text as it may be typed, or None if the text is not an ID.

    >>> parse_id("4k7t 9qxa m98f rjcb"), parse_id("17")
    ('4K7T-9QXA-M98F-RJCB', None)
    """
    letters = plain_letters(text)
    if len(letters) != _LENGTH or not all(letter in LETTERS for letter in letters):
        return None
    return in_groups(letters)
