"""Looks and strata of a live trial, in every store."""

from __future__ import annotations

import pytest

from adhere import Trial
from adhere.analysis.reading.from_table import read_records
from adhere.design.parts import Looks, Stopping
from adhere.store import Store
from adhere.trial.domain.events import Recommended
from adhere.trial.log.records import trial_records
from adhere.trial.log.table import tables
from oracle.permuted import PermutedBlocks
from same_records import assert_same_records
from trial.live import Live, number_of
from trial.test_looks import IN_BLOCKS, THREE, check_log, looks_of


def test_strata_and_looks_are_those_of_the_trial_in_memory(store: Store) -> None:
    stopping = Stopping(by="wealth", alpha=0.05)
    live = Live(store=store, **IN_BLOCKS, looks=Looks(at=(8,)), control="placebo", stopping=stopping, seed=5)
    trial = Trial.from_design(live.design, seed=5)
    blocks = {stratum: PermutedBlocks(3, (6, 9, 12)) for stratum in ("young", "old")}
    for number in range(14):
        stratum = "old" if number % 3 == 0 else "young"
        made, same = live.recommend(f"s{number}", stratum=stratum), trial.recommend(stratum=stratum)
        assert made.arm == same.arm
        live.report(made.recommendation_id, reward=float(same.arm == "high"))
        trial.report(same.id, reward=float(same.arm == "high"))
        if number < 12:
            shares = [float(share) for share in blocks[stratum].shares()]
            assert list(same.probabilities.values()) == pytest.approx(shares)
            blocks[stratum].add(THREE.index(same.arm))
    made_events = [event for event in live.events() if isinstance(event, Recommended)]
    assert [event.stratum for event in made_events[:3]] == [1, 0, 0]
    (look,), (same_look,) = looks_of(live), trial.looks
    assert (look.n_outcomes, look.position) == (same_look.outcomes, same_look.record) == (8, 18)
    assert list(same_look.arms[2].values.values()) == [value for value in look.values[2] if value is not None]
    check_log(live)
    with live.store.reading() as view:
        records = trial_records(view, number_of(view), live.design)
        (table,) = tables(view, number_of(view), live.design)
    assert records.strata == ("old", "young")
    assert table["STRATUM"].to_list()[:3] == ["old", "young", "young"]
    assert trial.records().digest == records.digest
    assert_same_records(read_records(table), records)
