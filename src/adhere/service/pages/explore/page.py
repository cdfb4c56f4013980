"""The page Explore: sliders, curves, and each protocol's beliefs compared with the truth."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

from starlette.responses import Response

from adhere.exploration import policies, presets
from adhere.exploration.presets import MAX_PATIENTS, MAX_RUNS, Settings, fields_of
from adhere.exploration.results import Exploration
from adhere.service.api.simulations import EXPLORATION_QUERY, settings_of
from adhere.service.pages.explore.charts import ExploreChart, beliefs, curves, population
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.rendering import script_json

_PATIENCE: Final = 1.0  # seconds; if a policy must be compiled, it takes longer, and the page asks again
_DECIMALS: Final = 4


async def explore_page(page: PageRequest) -> Response:
    """Show the page for the settings in its address or, for its script, only the parts that change."""
    query = _query(page)
    if page.is_fragment:
        return page.render("parts/explored.html", **_shown(await page.call("explore", query=query)))
    settings = settings_of(urlencode(query).encode())
    call = asyncio.ensure_future(page.call("explore", query=query))
    # Retrieve the error if it comes too late to be shown.
    call.add_done_callback(lambda call: call.cancelled() or call.exception())
    done, _ = await asyncio.wait({call}, timeout=_PATIENCE)
    return page.render(
        "explore.html",
        settings=settings,
        numbers=_numbers(settings),
        fields_of=fields_of,
        presets=presets.PRESETS,
        preset=_preset(settings),
        choices=policies.CHOICES,
        max_patients=MAX_PATIENTS,
        max_runs=MAX_RUNS,
        **_shown(call.result() if done else None),
    )


def _query(page: PageRequest) -> dict[str, str]:
    """Return the settings in the page's address. A form sends one `policies` parameter per ticked box."""
    given = parse_qs(page.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return {name: ",".join(given[name]) for name, _ in EXPLORATION_QUERY if name in given}


def _shown(found: Exploration | None) -> Mapping[str, Any]:
    """Return the values that the templates show for an exploration. `found` is None while the exploration is still
    being simulated.
    """
    charts: dict[str, ExploreChart] = {
        "population": population(found),
        "beliefs": beliefs(found),
        "surplus": curves(found, "surplus", "surplus over randomisation"),
        "regret": curves(found, "regret", "regret"),
    }
    updates = {name: {"values": one.values, "label": one.label} for name, one in charts.items()}
    state = None if found is None else {**_numbers(found.settings), "preset": _preset(found.settings)}
    return {"found": found, "charts": charts, "updates": script_json(updates), "state": script_json(state)}


def _preset(settings: Settings) -> str:
    """Return the preset with exactly these compliance types, if there is one."""
    return next((one.name for one in presets.PRESETS if presets.preset_groups(one.name) == settings.groups), "")


def _numbers(settings: Settings) -> dict[str, str]:
    """Return shares and rewards as the page shows them. The rounded shares add up to 1."""
    shares = [round(group.share, _DECIMALS) for group in settings.groups]
    largest = shares.index(max(shares))
    shares[largest] = round(shares[largest] + 1.0 - sum(shares), _DECIMALS)
    found: dict[str, str] = {}
    for group, share in zip(settings.groups, shares, strict=True):
        values = (share, *(round(mean, _DECIMALS) for mean in group.rewards))
        found |= {field: f"{value:g}" for field, value in zip(fields_of(group.name), values, strict=True)}
    return found
