"""The folded form of codes and names, in which those that people take for one another are equal.

A look-alike is shown and asked about, never merged: folding too much costs a question, folding too little a second
patient. So everything is left out here that is easily mistyped or not seen at all.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

# Casefolded letters and the digit or letter that each is taken for: O and 0, I, l and 1, and the letters of the Greek
# and Cyrillic alphabets that look like Latin ones.
_GREEK: Final = dict(zip("αβεζηικμνορτυχ", "abezh1kmn0ptyx", strict=True))
_CYRILLIC: Final = dict(zip("авеіјкмнорстух", "abe1jkmh0pctyx", strict=True))
_ALIKE: Final = str.maketrans({"ı": "1", "i": "1", "l": "1", "|": "1", "o": "0", **_GREEK, **_CYRILLIC})
_KEPT: Final = ("Ll", "Lo", "Lt", "Lu", "N")  # letters and digits
_FILLERS: Final = "\u115f\u1160"  # counted among the letters, but not seen


def fold(text: str) -> str:
    """Fold a code or a name, so that it equals all that look like it.

    The steps are Unicode's: NFKC, casefolding, NFD. Then only letters and digits are kept: accents, punctuation,
    symbols, spaces and invisible characters are left out. A letter with a stroke or a hook becomes the letter without
    it, dotless ı becomes i, a digit of any script the same digit of ours. For O and 0, and for I, l and 1, the digit
    stands for all.

    >>> fold("L-001") == fold("l 0O1") == fold("I.OOl") == fold("Ł·ØØ١")
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
    letters = unicodedata.normalize("NFD", text).translate(_ALIKE)
    return "".join(map(_plain, letters))


def find_alike(name: str, known: Iterable[str]) -> str | None:
    """Return the first of some names that looks like another one and is not it, or None.

    >>> find_alike("edinburgh", ["Leeds", "Edinburgh"])
    'Edinburgh'
    >>> find_alike("Leeds", ["Leeds", "Edinburgh"])
    """
    folded = fold(name)
    return next((one for one in known if one != name and fold(one) == folded), None)


@lru_cache(4096)
def _plain(letter: str) -> str:
    """Return a letter or digit without what is added to it, or nothing for any other character."""
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
        except KeyError:  # the letter without it does not exist by itself
            return letter
    return letter


_ASCII: Final = {number: _plain(chr(number).lower().translate(_ALIKE)) for number in range(128)}
