"""Read settings, and write them as text. Flags override environment variables, the settings file and defaults."""

import json
import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

import msgspec

from adhere.decode_errors import in_words
from adhere.errors import InputError, joined
from adhere.files import unreadable
from adhere.service.settings import SETTINGS, ServiceSettings, Setting

Source = Literal["default", "file", "environment", "flag"]

FILE_VARIABLE: Final = "ADHERE_SETTINGS"
HIDDEN: Final = "***"  # shown instead of a password
# Environment variables of adhere that are not settings of the service.
_OTHER_VARIABLES: Final = (FILE_VARIABLE, "ADHERE_CACHE_DIR", "ADHERE_TOKEN")
_TESTS: Final = "ADHERE_TESTS_"
_YES_NO: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class ReadSettings(msgspec.Struct, frozen=True):
    """Settings, and the source of each value."""

    settings: ServiceSettings
    sources: Mapping[str, Source]


def read_settings(
    flags: Mapping[str, Any], file: Path | None = None, environment: Mapping[str, str] | None = None
) -> ReadSettings:
    """Read all settings from flags, environment variables and the settings file.

    `flags` maps names of settings to values, or None if a flag was not given. Without a file, the file named by
    ADHERE_SETTINGS is read, if any. An unknown or invalid setting raises an `InputError` that names its source.
    """
    environment = os.environ if environment is None else environment
    if file is None and environment.get(FILE_VARIABLE):
        file = Path(environment[FILE_VARIABLE])
    values: dict[str, Any] = {}
    sources: dict[str, Source] = dict.fromkeys(SETTINGS, "default")
    layers: list[tuple[Source, dict[str, Any]]] = [
        ("file", _from_file(file) if file is not None else {}),
        ("environment", _from_environment(environment)),
        ("flag", _from_flags(flags)),
    ]
    for source, layer in layers:
        values |= layer
        sources |= dict.fromkeys(layer, source)
    settings = ServiceSettings(**values)
    if settings.database_url is not None and settings.data != SETTINGS["data"].default:
        expected = f"either data ({sources['data']}) or database_url ({sources['database_url']}), not both"
        raise InputError("data", settings.data, expected)
    return ReadSettings(settings, sources)


def check_value(setting: Setting, value: Any, named: str) -> Any:
    """Check a value of a setting and return it. Errors refer to it by the name `named`."""
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused(setting, value, named, "a finite number")
    try:
        found = msgspec.convert(value, setting.annotation)
    except msgspec.ValidationError as error:
        expected = in_words(str(error).partition(" - at ")[0].removeprefix("Expected ").partition(", got")[0])
        if get_origin(setting.type) is Literal:
            expected = joined(get_args(setting.type), "or")
        if setting.many and isinstance(value, str):  # a value from the settings file
            expected = f"a list: [{json.dumps(value)}]"
        else:
            expected = setting.expected or expected
        raise _refused(setting, value, named, expected) from None
    if found is not None and setting.check is not None and not setting.check(found):
        raise _refused(setting, value, named, setting.expected or "another value")
    if setting.secret and HIDDEN in str(found):
        raise _refused(setting, value, named, f"the password itself, for which --show-settings shows {HIDDEN}")
    return found


def check_settings(settings: ServiceSettings) -> None:
    """Check settings that were made in Python, and the conditions between several settings."""
    for name, setting in SETTINGS.items():
        check_value(setting, getattr(settings, name), name)
    if settings.workers > 1 and settings.database_url is None:
        expected = "1: only PostgreSQL can be written by several processes (postgresql://…)"
        raise InputError("workers", settings.workers, expected)
    for name, other in (("tls_key", "tls_certificate"), ("tls_certificate", "tls_key")):
        if getattr(settings, name) is None and getattr(settings, other) is not None:
            raise InputError(name, None, f"a file, since {other} is given")


def _from_file(file: Path) -> dict[str, Any]:
    try:
        read = tomllib.loads(file.read_bytes().decode())
    except OSError as error:
        raise unreadable("settings", file, error) from None
    except UnicodeDecodeError:
        raise InputError("settings", str(file), "a text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError("settings", str(file), f"valid TOML: {error}") from None
    for key in read:
        if key not in SETTINGS:
            raise _unknown(str(file), key, SETTINGS)
    return {key: check_value(SETTINGS[key], value, f"{file}: {key}") for key, value in read.items()}


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    variables = {setting.variable: setting for setting in SETTINGS.values()}
    found = {}
    for variable, text in environment.items():
        if setting := variables.get(variable):
            if not text:  # treated like a variable that is not set
                continue
            found[setting.name] = check_value(setting, _parsed(setting, text, variable), variable)
        elif variable.startswith("ADHERE_") and not variable.startswith(_TESTS) and variable not in _OTHER_VARIABLES:
            raise _unknown("environment", variable, [*variables, *_OTHER_VARIABLES])
    return found


def _from_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, given in flags.items():
        if given is None or given == []:
            continue
        setting = SETTINGS[name]
        text = ",".join(given) if isinstance(given, list) else given
        value = _parsed(setting, text, setting.flag) if isinstance(text, str) else text
        found[name] = check_value(setting, value, setting.flag)
    return found


def _parsed(setting: Setting, text: str, named: str) -> Any:
    """Parse the text of a value."""
    if setting.many:
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        if setting.type is int:
            return int(text)
        if setting.type is float:
            return float(text)
        return _YES_NO[text.lower()] if setting.type is bool else text
    except (ValueError, KeyError):
        expected = {int: "a whole number", float: "a number", bool: "true or false"}[setting.type]
        raise InputError(named, text, expected) from None


def _refused(setting: Setting, value: Any, named: str, expected: str) -> InputError:
    return InputError(named, HIDDEN if setting.secret else value, expected)


def _unknown(where: str, name: str, known: Iterable[str]) -> InputError:
    close = get_close_matches(name, list(known), n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return InputError(where, name, f"a setting that exists{hint}; adhere serve --help lists them")


def settings_toml(read: ReadSettings) -> str:
    """Return every setting as TOML, with its value and the value's source."""
    lines = ["# Each value, and its source: a flag, over the environment, over the file, over the default."]
    for group, settings in groupby(SETTINGS.values(), key=lambda setting: setting.group):
        lines += ["", f"# {group}"]
        for setting in settings:
            value, source = getattr(read.settings, setting.name), read.sources[setting.name]
            if value is None:
                lines.append(f"# {setting.name} is not set")
            else:
                shown = hide_password(value) if setting.secret else value
                lines.append(f"{setting.name} = {toml_value(shown)}  # {source}")
    return "\n".join(lines)


def toml_value(value: Any) -> str:
    """Return a value in TOML.

    >>> toml_value(("a", "b")), toml_value(True), toml_value(1e20)
    ('["a", "b"]', 'true', '1e+20')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(toml_value(part) for part in value)}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def hide_password(url: str) -> str:
    """Return a database's address with its password hidden.

    >>> hide_password("postgresql://me:secret@db/trials?password=secret")
    'postgresql://me:***@db/trials?password=***'
    """
    url = re.sub(r"^(\w+://[^:/@]*):.*@", rf"\1:{HIDDEN}@", url)  # up to the last @: a password may contain / and @
    return re.sub(r"(\w*password)=[^&]*", rf"\1={HIDDEN}", url, flags=re.IGNORECASE)
