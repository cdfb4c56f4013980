"""One recommendation: large and plain, what was reported of it, the forms that say more, and a slip to print."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.site.form_problem import FormProblem, already_recorded
from adhere.service.pages.site.page import new_key
from adhere.service.pages.site.recorded import entries, outcome_text, taken_text

_FEW_VALUES = 6  # rewards that have a button each though there are no words for them


async def recommendation_page(page: PageRequest) -> Response:
    """A recommendation and what can be said of it."""
    return await show_recommendation_page(page)


async def slip_page(page: PageRequest) -> Response:
    """A recommendation on paper."""
    return page.render("slip.html", **await _facts(page))


async def show_recommendation_page(page: PageRequest, problem: FormProblem | None = None, **values: Any) -> Response:
    """The page of a recommendation, after something was done or refused."""
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
    lines = (
        await page.call("find_recommendations", query={"recommendation_id": page.recommendation_id})
    ).recommendations
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
    """The treatment taken and the outcome as they are recorded, in words; empty if not reported."""
    shown, words = facts["shown"], facts["words"]
    taken = "Nothing taken" if shown.took == "nothing" else facts["taken"]
    return taken, "" if shown.reward is None else outcome_text(shown.reward, words)
