"""Folded forms of codes and names, which are equal if people may mistake one for the other.

Look-alikes are shown and asked about, but never merged. Folding too much costs a question; folding too little costs a
duplicate patient. Everything that is easily mistyped or invisible is therefore left out.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

# Casefolded letters and the digit or letter that they are mistaken for: O and 0; I, l and 1; and Greek and Cyrillic
# letters that look like Latin ones.
_GREEK: Final = dict(zip("αβεζηικμνορτυχ", "abezh1kmn0ptyx", strict=True))
_CYRILLIC: Final = dict(zip("авеіјкмнорстух", "abe1jkmh0pctyx", strict=True))
_ALIKE: Final = str.maketrans({"ı": "1", "i": "1", "l": "1", "|": "1", "o": "0", **_GREEK, **_CYRILLIC})
_KEPT: Final = ("Ll", "Lo", "Lt", "Lu", "N")  # letters and digits
_FILLERS: Final = "\u115f\u1160"  # Unicode counts them as letters, but they are invisible


def fold(text: str) -> str:
    """Fold a code or a name, so that it equals all that look like it.

    The steps are Unicode's: NFKC, casefolding, NFD. Then only letters and digits are kept, without accents,
    punctuation, symbols, spaces and invisible characters. A letter with a stroke or a hook becomes the plain letter,
    dotless ı becomes i, and a digit of any script becomes a European digit. O becomes 0, and I and l become 1.

    >>> fold("L-001") == fold("l 0O1") == fold("I.OOl") == fold("Ł·ØØ١")
    True
    >>> [fold(name) for name in ("İzmir", "izmir", "IZMIR", "ızmir")]
    ['1zm1r', '1zm1r', '1zm1r', '1zm1r']
    >>> fold("Zürich") == fold("Zu\N{COMBINING DIAERESIS}rich") == fold("ZURICH")
    True
    >>> fold("Straße") == fold("STRASSE")
    True
    """
    if text.isascii():  # the same result from one table, for speed, since every new subject is folded
        return text.translate(_ASCII)
    # Twice, since casefolding may leave something that NFKC changes, and the result may contain capital letters.
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text).casefold()
    letters = unicodedata.normalize("NFD", text).translate(_ALIKE)
    return "".join(map(_plain, letters))


def find_alike(name: str, known: Iterable[str]) -> str | None:
    """Return the first of some names that looks like `name` but differs from it, or None.

    >>> find_alike("edinburgh", ["Leeds", "Edinburgh"])
    'Edinburgh'
    >>> find_alike("Leeds", ["Leeds", "Edinburgh"])
    """
    folded = fold(name)
    return next((one for one in known if one != name and fold(one) == folded), None)


@lru_cache(4096)
def _plain(letter: str) -> str:
    """Return a letter or digit without additions such as a stroke, or "" for any other character."""
    if not unicodedata.category(letter).startswith(_KEPT) or letter in _FILLERS:
        return ""
    if letter.isascii():
        return letter
    if letter.isdecimal():
        return fold(str(unicodedata.decimal(letter)))
    name, _, added = unicodedata.name(letter, "").partition(" WITH ")
    if added:
        try:
            return fold(unicodedata.lookup(name))
        except KeyError:  # the letter without the addition does not exist
            return letter
    return letter


_ASCII: Final = {number: _plain(chr(number).lower().translate(_ALIKE)) for number in range(128)}
