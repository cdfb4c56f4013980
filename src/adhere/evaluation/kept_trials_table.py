"""Kept trials as a data frame, in words instead of numbers for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars

from adhere.design.design import Design
from adhere.evaluation.characteristics.claims import selected_arms
from adhere.evaluation.characteristics.outcomes import VIEWS, Ints, TrialOutcomes
from adhere.evaluation.characteristics.quantities import INCONCLUSIVE
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.looks.judge import ACTIVE, NAMES

_STATUSES = [INCONCLUSIVE if status == ACTIVE else name for status, name in enumerate(NAMES)]


def as_polars(
    designs: Sequence[Design], scenarios: Sequence[Scenario], outcomes: Sequence[TrialOutcomes]
) -> polars.DataFrame:
    """A row for each trial: scenario by scenario, in each by design."""
    names = polars.Enum([one.name for one in scenarios]), polars.Enum([one.name for one in designs])
    frames = []
    for place, trials in enumerate(outcomes):
        scenario, design = divmod(place, len(designs))
        whose = (
            polars.lit(scenarios[scenario].name, names[0]).alias("scenario"),
            polars.lit(designs[design].name, names[1]).alias("design"),
        )
        frames.append(polars.DataFrame(list(_columns(designs[design], trials))).select(*whose, polars.all()))
    return polars.concat(frames, how="diagonal")  # designs may differ in their estimands


def _columns(design: Design, trials: TrialOutcomes) -> Iterator[polars.Series]:
    control = None if design.control is None else design.arms.index(design.control)
    yield polars.Series("trial", np.arange(len(trials.decision)))
    yield _words("decision", trials.decision, _STATUSES)
    yield _words("selected", selected_arms(trials, control), design.arms)
    yield polars.Series("n_looks", trials.n_looks)
    yield polars.Series("sample_size", trials.n_patients)
    yield polars.Series("duration", trials.days)
    yield polars.Series("outcome", trials.reward / trials.n_patients)
    for arm, name in enumerate(design.arms):
        yield _words(f"status_{name}", trials.status[:, arm], _STATUSES)
        look = polars.Series(f"look_{name}", trials.status_at[:, arm] + 1)
        yield look.set(look == 0, None)
        yield polars.Series(f"n_recommended_{name}", trials.chosen[:, arm])
        yield polars.Series(f"n_taken_{name}", trials.taken[:, arm])
    for arm, name in enumerate(design.arms):
        if arm == (control or 0):  # the others are compared with it
            continue
        for view in design.estimands:
            place = VIEWS.index(view)
            yield polars.Series(f"estimate_{name}_{view}", trials.estimate[:, arm, place], nan_to_null=True)
            covers = polars.Series(f"covers_{name}_{view}", trials.covers[:, arm, place], nan_to_null=True)
            yield covers.cast(polars.Boolean)


def _words(name: str, codes: Ints, words: Sequence[str]) -> polars.Series:
    return polars.Series(name, np.array(words)[codes], dtype=polars.Enum(words))
