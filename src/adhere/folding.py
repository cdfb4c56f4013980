"""The folded form of codes and names, in which those that people take for one another are equal.

A look-alike is shown and asked about, never merged: folding too much costs a question, folding too little a second
patient. So everything is left out here that is easily mistyped or not seen at all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

# Casefolded: O and 0 are alike, and so are I, l and 1. Unicode counts two minus signs among the symbols.
_ALIKE: Final = str.maketrans({"ı": "1", "i": "1", "l": "1", "o": "0", "\u2212": None, "\u02d7": None})
# Marks (accents), punctuation (hyphens and dashes of every kind, dots, strokes), separators (spaces of every kind),
# and what cannot be seen: control characters and format characters such as soft hyphens and zero-width spaces.
_LEFT_OUT: Final = ("M", "P", "Z", "Cc", "Cf")


def fold(text: str) -> str:
    """Fold a code or a name, so that it equals all that look like it.

    The steps are Unicode's: NFKC, casefolding, NFD. Then marks, punctuation, spaces and invisible characters are left
    out, dotless ı becomes i, and of O and 0, and of I, l and 1, the digit stands for all.

    >>> fold("L-001") == fold("l 0O1") == fold("I.OOl")
    True
    >>> [fold(name) for name in ("İzmir", "izmir", "IZMIR", "ızmir")]
    ['1zm1r', '1zm1r', '1zm1r', '1zm1r']
    >>> fold("Zürich") == fold("Zu\N{COMBINING DIAERESIS}rich") == fold("ZURICH")
    True
    >>> fold("Straße") == fold("STRASSE")
    True
    """
    if text.isascii():  # the same by one table, since every new subject is folded
        return text.translate(_ASCII)
    # Twice: casefolding may leave something that NFKC changes, and what it makes of that may have capital letters.
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text).casefold()
    letters = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in letters if not _is_left_out(letter)).translate(_ALIKE)


def find_alike(name: str, known: Iterable[str]) -> str | None:
    """Return the first of some names that looks like another one and is not it, or None.

    >>> find_alike("edinburgh", ["Leeds", "Edinburgh"])
    'Edinburgh'
    >>> find_alike("Leeds", ["Leeds", "Edinburgh"])
    """
    folded = fold(name)
    return next((one for one in known if one != name and fold(one) == folded), None)


def _is_left_out(letter: str) -> bool:
    return unicodedata.category(letter).startswith(_LEFT_OUT)


_ASCII: Final = {
    number: None if _is_left_out(chr(number)) else chr(number).lower().translate(_ALIKE) for number in range(128)
}
