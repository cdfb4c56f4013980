from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from adhere.analysis.analyse import analyse_records
from adhere.analysis.flow import flow
from adhere.analysis.output.figures import flow_figure
from adhere.analysis.output.tables import compliance_table, flow_table
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Records

from .made_records import MISSING, any_records, made


def test_states_that_are_not_the_same_are_counted_apart() -> None:
    rows = [
        (0, 0, 1.0, 10),
        (0, 1, 0.0, 3),
        (1, 1, 1.0, 20),
        (1, 0, 1.0, 4),
        (1, TOOK_NOTHING, 0.0, 5),
        (1, TOOK_OTHER, 1.0, 2),
        (1, NOT_KNOWN, MISSING, 6),
        (1, NOT_KNOWN, MISSING, 7),
        (1, 1, MISSING, 8),
        (1, 1, 0.0, 9),
    ]
    flags = np.zeros((3, len(rows)), dtype=np.bool_)
    flags[0, 7] = flags[0, 8] = True
    flags[1, 9] = flags[2, 9] = True
    records = made(
        rows, lost=flags[0], imputed_actual=flags[1], imputed_reward=flags[2], left_out={"without an assigned arm": 2}
    )

    result = flow(records)

    new = result.arms[1]
    assert (new.assigned, new.took_it, new.crossed_over) == (61, 37, 4)
    assert (new.took_others, new.took_nothing, new.took_other) == ({"old": 4}, 5, 2)
    assert (new.not_reported, new.lost, new.taken_imputed) == (6, 7, 9)
    assert (new.outcome_known, new.outcome_imputed, new.outcome_missing, new.outcome_lost) == (31, 9, 21, 15)
    assert new.compliance.value == 37 / 48
    assert (new.nothing.value, new.something_else.value) == (5 / 48, 2 / 48)
    assert str(new.compliance.sets[0]) == "[0.635, 0.867]"  # Wilson, by statsmodels
    assert result.total.assigned == 74
    assert result.total.took_others == {"old": 4, "new": 3}
    assert result.left_out == {"without an assigned arm": 2}
    assert result.notes == ("Left out: 2 rows without an assigned arm.",)


@settings(max_examples=40, deadline=None)
@given(any_records())
def test_every_patient_is_counted_once(records: Records) -> None:
    result = flow(records)
    assert result.total.assigned == records.n_patients == sum(arm.assigned for arm in result.arms)
    for arm in (*result.arms, result.total):
        taken = (arm.took_it, arm.crossed_over, arm.took_nothing, arm.took_other, arm.not_reported, arm.lost)
        assert arm.assigned == sum(taken)
        assert min(taken) >= 0
        assert arm.assigned == arm.outcome_known + arm.outcome_imputed + arm.outcome_missing
        assert 0 <= arm.outcome_lost <= arm.outcome_missing
        shares = [share.value for share in (*arm.matrix.values(), arm.nothing, arm.something_else)]
        if arm.compliance.value is None:
            assert arm.compliance.reason
            assert not any(shares)
        else:
            assert arm.compliance.value in arm.compliance.sets[0]
            assert arm.arm == "all arms" or abs(sum(share or 0.0 for share in shares) - 1.0) < 1e-12


def test_an_arm_that_nobody_was_assigned_or_took_is_named() -> None:
    notes = flow(made([(0, 0, 1.0, 5), (0, 1, 1.0, 5)], ["a", "b", "c"])).notes
    assert notes == (
        "Nobody was assigned to b, so nothing can be said about assigning it.",
        "Nobody was assigned to c, so nothing can be said about assigning it.",
        "Nobody took c, so nothing can be said about taking it.",
    )


def test_arms_may_be_called_as_what_is_no_arm() -> None:
    arms = ["all arms", "nothing", "took nothing"]
    rows = [(0, 0, 1.0, 9), (1, 1, 0.0, 8), (2, 2, 1.0, 3), (2, TOOK_NOTHING, 0.0, 1)]
    analysis = analyse_records(made(rows, arms))
    assert [one.matrix[one.arm].value for one in analysis.flow.arms] == [1.0, 1.0, 0.75]
    assert flow_table(analysis).header == ["", *arms, "(all arms)"]
    assert compliance_table(analysis).header == ["assigned", *arms, "(nothing)", "took it [95%]"]
    assert compliance_table(analysis).rows[2][:-1] == ["took nothing", "0.0%", "0.0%", "75.0%", "25.0%"]
    assert "took (nothing): 1 (25.0%)" in flow_figure(analysis).alternative
