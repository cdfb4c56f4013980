"""Handler of explorations: the settings are in the address, so that a link carries them."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from adhere.exploration import presets
from adhere.exploration.groups import NAMES, Group, fields_of
from adhere.exploration.policies import CHOICES, DEFAULT, check_policies
from adhere.exploration.results import Exploration
from adhere.exploration.settings import MAX_PATIENTS, MAX_RUNS, MAX_SEED, Settings
from adhere.service.api.parameters import Number, Text
from adhere.service.api.queries import query_value
from adhere.service.context import RequestContext

_SHARE_OR_REWARD = Number(0, 1)
_PATIENTS, _RUNS, _SEED = (Number(*ends, whole=True) for ends in ((10, MAX_PATIENTS), (1, MAX_RUNS), (0, MAX_SEED)))
_PRESET_MEANING = (
    f"where shares and rewards that are not given come from: {', '.join(p.name for p in presets.PRESETS)}"
)
_POLICIES_MEANING = f"separated by commas: {', '.join(choice.policy for choice in CHOICES)}"

QUERY: Final[tuple[tuple[str, Number | Text], ...]] = (
    ("preset", Text(_PRESET_MEANING)),
    *((field, _SHARE_OR_REWARD) for name in NAMES for field in fields_of(name)),
    ("policies", Text(_POLICIES_MEANING)),
    ("patients", _PATIENTS),
    ("runs", _RUNS),
    ("seed", _SEED),
)


async def explore(context: RequestContext) -> Exploration:
    """Show who is fooled in a population of four compliance types, and how policies fare there."""
    return await context.service.explorer.explore(context.holder.id, settings_of(context.query))


def settings_of(query: bytes) -> Settings:
    """The settings in an address; what is not given is as in the preset, or the default."""
    start = presets.preset_groups(query_value(query, "preset", presets.DEFAULT, _PRESET_MEANING))
    groups = [
        Group(
            one.name,
            *(
                _SHARE_OR_REWARD.read(query, field, value)
                for field, value in zip(fields_of(one.name), (one.share, *one.rewards), strict=True)
            ),
        )
        for one in start
    ]
    return Settings(
        tuple(groups),
        check_policies(_policies(query)),
        int(_PATIENTS.read(query, "patients", 1_000)),
        int(_RUNS.read(query, "runs", 1_000)),
        int(_SEED.read(query, "seed", 0)),
    )


def _policies(query: bytes) -> tuple[str, ...]:
    """The policies of all parameters of this name: a form sends one for each box that is ticked."""
    given = [
        value for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True) if name == "policies"
    ]
    texts = [text.strip() for value in given for text in value.split(",")]
    return tuple(filter(None, texts)) if given else DEFAULT
