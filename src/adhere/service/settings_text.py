"""Settings as text: TOML that can be read back, without secrets."""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import Any

from adhere.service.settings import SETTINGS
from adhere.service.settings_sources import HIDDEN, ReadSettings


def settings_toml(read: ReadSettings) -> str:
    """Every setting with its value and where that came from, as TOML."""
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


def settings_table() -> str:
    """All settings as a table in Markdown, for docs/operations.md."""
    lines = ["| setting | default | what |", "|---|---|---|"]
    for group, settings in groupby(SETTINGS.values(), key=lambda setting: setting.group):
        lines.append(f"| **{group}** | | |")
        for setting in settings:
            flag = "" if setting.flag[2:] == setting.name.replace("_", "-") else f" (`{setting.flag}`)"
            default = f"`{setting.shown_default}`" if setting.shown_default else ""
            lines.append(f"| `{setting.name}`{flag} | {default} | {setting.description} |")
    return "\n".join(lines)


def toml_value(value: Any) -> str:
    """A value in TOML.

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
    """A database's address without its password.

    >>> hide_password("postgresql://me:secret@db/trials?password=secret")
    'postgresql://me:***@db/trials?password=***'
    """
    url = re.sub(r"^(\w+://[^:/@]*):.*@", rf"\1:{HIDDEN}@", url)  # up to the last @: a password may hold / and @
    return re.sub(r"(\w*password)=[^&]*", rf"\1={HIDDEN}", url, flags=re.IGNORECASE)
