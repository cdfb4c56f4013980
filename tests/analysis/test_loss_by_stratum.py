from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adhere.analysis.adaptive.aipw import aipw
from adhere.analysis.cells import cells_of
from adhere.analysis.estimates import View
from adhere.analysis.missing_outcomes.sensitivity import COMPLETE_CASES, sensitivity
from adhere.analysis.records import Records

from .made_records import MISSING, made


def lossy(n_each: int = 400) -> Records:
    """Two strata of the same size; in `hi`, 70% of both arms are lost. The effect is 0.4 in `hi` and 0 in `lo`.

    Every share is exact: `new` is assigned to 70% of `hi` and to 30% of `lo`.
    """
    rows, strata, probabilities = [], [], []
    for stratum, share, effect, kept in ((0, 0.3, 0.0, 1.0), (1, 0.7, 0.4, 0.3)):
        for arm, of_arm in ((1, share), (0, 1.0 - share)):
            n = round(n_each * of_arm)
            n_kept = round(n * kept)
            good = round(n_kept * (0.3 + effect * arm))
            outcomes = [1.0] * good + [0.0] * (n_kept - good) + [MISSING] * (n - n_kept)
            rows += [(arm, arm, one, 1) for one in outcomes]
            strata += [stratum] * n
            probabilities += [(1.0 - share, share)] * n
    order = np.random.default_rng(1).permutation(len(rows))
    return made(
        [rows[place] for place in order],
        stratum=np.array(strata)[order],
        strata=("lo", "hi"),
        probabilities=np.array(probabilities)[order],
    )


def test_complete_cases_weight_strata_by_patients_not_by_known_outcomes() -> None:
    found = sensitivity(cells_of(lossy()), by_patients=True).alternatives
    complete = {one.view: one.difference.value for one in found if one.assumption == COMPLETE_CASES}
    assert complete[View.INTENTION_TO_TREAT] == pytest.approx(0.2, abs=0.01)
    assert complete[View.COMPLIERS] == pytest.approx(0.2, abs=0.01)


def test_aipw_by_stratum_weights_strata_by_patients_not_by_known_outcomes() -> None:
    records = lossy()
    by_view = {one.view: one.difference for one in aipw(replace(records, count=None), by_stratum=True)}
    assert by_view[View.INTENTION_TO_TREAT].value == pytest.approx(0.2, abs=0.03)
    assert 0.2 in by_view[View.INTENTION_TO_TREAT].sets[0]
    assert by_view[View.COMPLIERS].value == pytest.approx(0.2, abs=0.03)
