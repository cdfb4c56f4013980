"""Read a comma-separated file, plain or gzipped, with line numbers for error messages."""

import codecs
import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

from adhere.errors import InputError
from adhere.files import unreadable

_BEGINNING = 4096  # bytes
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}


def csv_rows(
    path: Path, errors: Literal["strict", "replace", "surrogateescape"] = "strict"
) -> Iterator[tuple[int, list[str], str]]:
    """Yield each non-blank row as its line number, its stripped cells and the separator. The first row is the header.

    The separator is a comma, unless the header contains semicolons or tabs and no comma. `errors` says how to handle
    bytes that are not UTF-8.
    """
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    line, header_length = 0, 0
    try:
        with opener(path, "rb") as beginning:
            if not _may_be_text(beginning.read(_BEGINNING)):
                raise InputError("file", str(path), "text in UTF-8", f"{path} is not text in UTF-8")
        with opener(path, "rt", encoding="utf-8-sig", errors=errors, newline="") as file:
            start = file.readline()
            while start and not start.strip():
                line, start = line + 1, file.readline()
            skipped = line
            separator = next((mark for mark in SEPARATORS if mark in start), ",")
            reader = csv.reader(chain([start], file), strict=True, delimiter=separator)
            for row in reader:
                line = skipped + reader.line_num
                cells = [cell.strip() for cell in row]
                if not any(cells):
                    continue
                header_length = header_length or len(cells)
                if len(cells) != header_length:
                    expected = f"{header_length} values, one per column"
                    raise InputError(f"{path}, line {line}", separator.join(row), expected)
                yield line, cells, separator
    except OSError as error:
        raise unreadable("file", path, error) from None
    except (EOFError, zlib.error) as error:
        raise InputError("file", str(path), f"a whole gzip file ({error})") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, after line {line}", error.object[error.start : error.end], "UTF-8 text") from None
    except csv.Error as error:
        raise InputError(f"{path}, line {skipped + reader.line_num}", str(error), "comma-separated values") from None
    if not header_length:
        raise InputError("file", str(path), "a header and at least one row, not an empty file")


def _may_be_text(beginning: bytes) -> bool:
    """Return whether a file may be UTF-8 text, given its beginning: no other encoding's mark, no control characters.

    Control characters below the header are treated as a mistake in a cell, so that an error can name the cell.
    """
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    header = beginning.lstrip().split(b"\n")[0]
    try:
        header.decode()
    except UnicodeDecodeError:
        return not _CONTROL.search(beginning)
    return not _CONTROL.search(header)


def columns(path: Path, header: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """Return the index of each named column, ignoring case; an error names all missing columns.

    >>> columns(Path("t.csv"), ["Reward", "chosen"], ["chosen", "reward"])
    {'chosen': 1, 'reward': 0}
    """
    present = [title.lower() for title in header]
    missing = [name for name in names if name.lower() not in present]
    if missing:
        listed = f"missing column{'s' * (len(missing) > 1)}: {', '.join(missing)}"
        sentence = f"{path}: {listed} (found: {', '.join(header)})"
        raise InputError(f"{path}, header", ",".join(header), f"also {', '.join(missing)}", sentence)
    for name in names:
        if present.count(name.lower()) > 1:
            raise InputError(f"{path}, header", name, "each column once")
    return {name: present.index(name.lower()) for name in names}
