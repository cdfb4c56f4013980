"""The page of one recommendation: the arm or kit, its reports, forms for more reports, and a slip to print."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from starlette.responses import Response

from adhere.service.pages.forms.problems import FormProblem, already_recorded
from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.site.page import new_key
from adhere_client.responses.recommendations import RecommendationDetails, RecordedLine

_MARKS: Final = {"withdrawn": "Lost to follow-up", "entered-in-error": "Entered in error"}
_LATER: Final = timedelta(minutes=2)  # a longer delay between a tap and its record is shown with both times
_NOT_REPORTED: Final = "not reported"


class Entry(NamedTuple):
    """One record: its text, the time of recording, the time of the event if earlier, the author and the reason."""

    says: tuple[str, ...]
    at: datetime
    happened: datetime | None
    by: str
    reason: str | None
    unblinds: bool


def outcome_text(reward: float, words: Mapping[float, str]) -> str:
    """Return an outcome in the design's word for it, or as a number.

    >>> outcome_text(1.0, {1.0: "alive"}), outcome_text(0.5, {})
    ('alive', 'Outcome 0.5')
    """
    return words.get(reward, f"Outcome {reward:g}")


def taken_text(one: RecommendationDetails | RecordedLine, given: str | None) -> str:
    """Name the treatment taken: an arm, a kit by its code, nothing, or something else in the reporter's words."""
    if one.took == "arm":
        kit = one.kit if isinstance(one, RecordedLine) else None
        return f"{one.actual} (kit {kit})" if kit else str(one.actual)
    if one.took == "kit" and one.actual:
        return f"{'This' if one.actual == given else 'Another'} kit, {one.actual}"
    if one.took == "other" and one.took_other:
        return f"Something else: {one.took_other}"
    return {"kit": "A kit", "nothing": "Nothing", "other": "Something else"}[str(one.took)]


def entries(shown: RecommendationDetails, words: Mapping[float, str]) -> list[Entry]:
    """List the records since the recommendation, in order. A correction includes the previous value."""
    before = {"Taken": _NOT_REPORTED, "Outcome": _NOT_REPORTED}
    found = []
    for line in shown.recorded:
        says = [_MARKS[line.event]] if line.event in _MARKS else []
        if line.event == "unblinded":
            says.append(f"Kit {line.kit} unblinded")
        taken = None if line.took is None else taken_text(line, shown.kit)
        outcome = None if line.reward is None else outcome_text(line.reward, words)
        for name, part, told in (("Taken", "actual", taken), ("Outcome", "reward", outcome)):
            now = _NOT_REPORTED if part in line.retract else told
            if now is not None:
                changed = f"{name} corrected: {before[name]} → {now}"
                says.append(f"{name}: {now}" if line.event == "reported" else changed)
                before[name] = now
        if "withdrawal" in line.retract:
            says.append("Not lost to follow-up")
        happened = line.happened if line.happened is not None and line.at - line.happened > _LATER else None
        found.append(Entry(tuple(says), line.at, happened, line.by, line.reason, line.event == "unblinded"))
    return found


_FEW_VALUES = 6  # rewards that get a button each, even without words for them


async def slip_page(page: PageRequest) -> Response:
    """Show a recommendation as a slip to print."""
    return page.render("slip.html", **await _facts(page))


async def recommendation_page(page: PageRequest, problem: FormProblem | None = None, **values: Any) -> Response:
    """Show a recommendation and its forms, with the effect or the refusal of a form if one was sent."""
    facts = await _facts(page)
    return page.render(
        "recommendation.html",
        problem.status if problem else 200,
        **facts,
        problem=problem and already_recorded(problem, *_recorded(facts)),
        form=page.form,
        key=new_key,
        may_unblind=page.may("unblind"),
        **{"unblinded": None, **values},
    )


async def _facts(page: PageRequest) -> dict[str, Any]:
    trial = await page.call("show_trial")
    shown = await page.call("show_recommendation")
    found = await page.call("find_recommendations", query={"recommendation_id": page.recommendation_id})
    lines = found.recommendations
    rewards, words = trial.reward_values or (), {value: word for word, value in trial.outcome_words.items()}
    return {
        "trial": trial,
        "shown": shown,
        "line": next(line for line in lines if line.recommendation_id == page.recommendation_id),
        "others": [line for line in lines if line.recommendation_id != page.recommendation_id],
        "given": shown.kit or shown.arm,
        "rewards": list(words) or (sorted(rewards) if len(rewards) <= _FEW_VALUES else []),
        "words": words,
        "taken": taken_text(shown, shown.kit) if shown.took else "",
        "recorded": entries(shown, words),
        "own_kit": trial.blinded and page.holder is not None and page.holder.site is not None,
    }


def _recorded(facts: dict[str, Any]) -> tuple[str, str]:
    """Return the recorded treatment taken and outcome in words, each empty if not reported."""
    shown, words = facts["shown"], facts["words"]
    taken = "Nothing taken" if shown.took == "nothing" else facts["taken"]
    return taken, "" if shown.reward is None else outcome_text(shown.reward, words)
