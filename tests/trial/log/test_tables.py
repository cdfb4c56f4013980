"""A trial as a table: CDISC's names, everything in it, and back into a trial with the same state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adhere.analysis.reading.from_table import read_records
from adhere.analysis.records import NEVER, NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER
from adhere.design.make_design import make_design
from adhere.design.parts import Imputation
from adhere.errors import InputError
from adhere.store import open_store
from adhere.trial.domain.commands import MarkInError, Withdraw
from adhere.trial.domain.events import AnyEvent, Recommended
from adhere.trial.log.records import trial_records
from adhere.trial.log.replay import replay
from adhere.trial.log.table import write_table
from adhere.trial.log.table_import import import_table
from adhere.trial.log.table_reading import arms_in, read_table, rewards_in
from adhere.trial.log.verify import verify
from adhere.trial.writing import creation
from adhere.trial.writing.snapshot import decode_snapshot
from same_records import assert_same_records

from ..live import Live

POLICY = "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)"


@pytest.fixture(scope="module")
def live() -> Live:
    """A trial with a bit of everything."""
    live = Live(POLICY, n_patients=40, impute=Imputation(after_days=14, took_nothing=True, reward=0.0))
    for n in range(20):
        live.recommend(f"s{n}")
        live.report(n, reward=float(n % 3 == 0)) if n % 4 == 0 else None
        live.report(n, actual="walk", reward=1.0) if n % 4 == 1 else None
        live.report(n, took_other="tea, “green”") if n % 4 == 2 else None
    live.report(4, actual="aspirin", happened=live.clock())
    live.correct(1, actual="aspirin", reward=0.0)
    live.correct(5, retract=("reward",))
    live.send(Withdraw(trial="t", request_id="w", recommendation_id=live.id_of(3), reason="moved away"))
    live.send(MarkInError(trial="t", request_id="e", recommendation_id=live.id_of(15), reason="entered twice"))
    live.clock.pass_days(15)
    live.impute_missing()
    live.report(7, actual="walk", reward=1.0)
    return live


def written(live: Live, path: Path) -> str:
    with live.store.reading() as view:
        return write_table(view, 1, live.design, path, path.suffix[1:])


def test_the_columns_are_cdiscs(live: Live, tmp_path: Path) -> None:
    head = written(live, tmp_path / "t.csv")
    with live.store.reading() as view:
        assert head == view.head(1).hash.hex()
    table = pl.read_csv(tmp_path / "t.csv", try_parse_dates=True)
    assert table["RECOMMENDATION_ID"].to_list() == [live.id_of(index) for index in range(20)]
    by_id = dict(enumerate(table.to_dicts()))
    assert by_id[1] | {"USUBJID": "t/Leeds/s1", "TRTA": "aspirin", "TRTASTAT": "ARM", "AVAL": 0.0} == by_id[1]
    assert by_id[2] | {"TRTA": None, "TRTASTAT": "OTHER", "TRTAOTH": "tea, “green”"} == by_id[2]
    assert by_id[3] | {"TRTASTAT": None, "AVAL": None, "DTYPE": None, "WITHDFL": "Y"} == by_id[3]
    assert by_id[15] | {"TRTASTAT": None, "AVAL": None, "DTYPE": None, "INERRFL": "Y"} == by_id[15]
    assert by_id[7] | {"TRTASTAT": "ARM", "AVAL": 1.0, "DTYPE": None, "TRTADTYP": None} == by_id[7]
    assert by_id[11] | {"TRTASTAT": "NOTHING", "AVAL": 0.0, "DTYPE": "IMPUTED", "TRTADTYP": "IMPUTED"} == by_id[11]
    for row in by_id.values():
        assert row["PROPENS"] == row[f"PROB_{row['TRTP']}"]
        assert row["PROB_walk"] + row["PROB_aspirin"] == pytest.approx(1.0)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_records_of_a_table_are_those_of_its_trial(live: Live, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    written(live, path)
    with live.store.reading() as view:
        records = trial_records(view, 1, live.design)
    assert_same_records(read_records(path), records)
    assert (records.name, records.arms, len(records), records.warnings) == ("t", live.design.arms, 19, ())
    by_id = list(zip(records.actual.tolist(), records.reward.tolist(), strict=True))
    assert (by_id[1], by_id[7], by_id[11]) == ((1, 0.0), (0, 1.0), (TOOK_NOTHING, 0.0))
    assert records.actual[2] == TOOK_OTHER
    assert (records.actual[3], np.isnan(records.reward[3])) == (NOT_KNOWN, True)
    events = {event.position: event for event in live.events()}
    assert records.seen is not None
    assert records.reward_at is not None
    assert records.actual_at is not None
    assert events[int(records.seen[18]) + 1] == live_recommendation(live, 19)  # 15 is left out
    assert (records.actual_at[3], records.reward_at[3]) == (NEVER, NEVER)
    assert records.actual_at[4] > records.reward_at[4] > records.seen[4]
    assert records.lost is not None
    assert np.flatnonzero(records.lost).tolist() == [3]
    assert records.imputed_reward is not None
    assert records.imputed_reward[11]
    assert not records.imputed_reward[7]


def live_recommendation(live: Live, number: int) -> AnyEvent:
    (event,) = [one for one in live.events() if isinstance(one, Recommended) and one.recommendation_index == number]
    return event


def test_arms_of_any_name_and_subjects_that_come_again(tmp_path: Path) -> None:
    live = Live("thompson", arms=("NA", "=1+1"))
    for n in range(12):
        live.recommend(f"s{n % 5}")
        live.report(n, actual=("NA", "=1+1")[n % 2], reward=1.0)
    written(live, tmp_path / "t.csv")
    with live.store.reading() as view:
        records = trial_records(view, 1, live.design)
    again = read_records(tmp_path / "t.csv")
    assert_same_records(again, records)
    assert (records.arms, set(records.actual)) == (("NA", "=1+1"), {0, 1})
    (warning,) = records.warnings
    assert warning.startswith("5 subjects have several rows (12 rows of 5 subjects): ")
    (with_lines,) = again.warnings
    assert with_lines.replace("; first 't/Leeds/s0' in line 2 and line 7", "") == warning


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_full_disk_is_an_error_of_the_system(live: Live, form: str) -> None:
    with live.store.reading() as view, pytest.raises(OSError, match=r"No space left|could not be written"):
        write_table(view, 1, live.design, Path("/dev/full"), form)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_is_read_back_into_the_same_state(live: Live, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    written(live, path)
    table, store = read_table(path), open_store()
    assert arms_in(table) == list(live.design.arms)
    assert set(rewards_in(table)) == {0.0, 1.0}
    import_table(table, store, make_design("again", POLICY, arms_in(table), n_patients=40))
    with store.reading() as view:
        snapshot = decode_snapshot(view.head(1).snapshot)
        assert snapshot is not None
        assert snapshot.policy_state == live.snapshot().policy_state
        assert verify(view, 1).fault is None
        found = replay(view, 1)
        assert (found.difference, found.n_imported) == (None, 20)
        write_table(view, 1, live.design, tmp_path / f"u.{suffix}", suffix)
    # Written once more, it differs only in where the records stand, since corrections left none, and in its IDs.
    once, twice = (read_table(tmp_path / f"{name}.{suffix}").drop(pl.selectors.ends_with("POS")) for name in "tu")
    ids = [frame["RECOMMENDATION_ID"].to_list() for frame in (once, twice)]
    assert len({*ids[0], *ids[1]}) == 40
    assert once.drop("RECOMMENDATION_ID").to_dicts() == twice.drop("RECOMMENDATION_ID").to_dicts()


def test_an_arm_listed_by_its_probabilities_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("USUBJID,TRTP,TRTA,AVAL,PROB_NA,PROB_b\nx,NA,NA,1,0.5,0.5\ny,b,.,NA,0.5,0.5\n")
    table = read_table(path)
    assert table.select("TRTP", "TRTA", "AVAL").rows() == [("NA", "NA", "1"), ("b", None, None)]


def test_a_table_of_somebody_elses_needs_only_four_columns(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("subject,chosen,actual,reward\nx,a,b,1\ny,b,b,0\nz,a,NA,n/a\n")  # R writes NA
    table, store = read_table(path), open_store()
    assert (arms_in(table), sorted(rewards_in(table))) == (["a", "b"], [0.0, 1.0])
    import_table(table, store, make_design("plain", "thompson/actual", arms_in(table)))
    with store.reading() as view:
        snapshot = decode_snapshot(view.head(1).snapshot)
        assert snapshot is not None
        assert snapshot.n_recommendations == 3
    with pytest.raises(InputError, match=r"row 1, MEMO: got \[\], expected the 5 numbers that hierarchical"):
        import_table(table, store, make_design("hybrid", "hierarchical(thompson)", arms_in(table), n_patients=9))
    with store.reading() as view:
        assert list(view.trials()) == ["plain"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b\n1,2\n", "USUBJID is missing"),
        ("USUBJID,TRTP,TRTA,AVAL\nx,a,b,2\ny,b,b,1\n", "row 1, reward: got 2.0"),
        ("USUBJID,TRTP,AVAL\nx,a,much\ny,b,0\n", "AVAL: got 'much', expected a number, true or false"),
        ("USUBJID,TRTP,RANDDTM\nx,a,yesterday\ny,b,\n", "row 1, RANDDTM: got 'yesterday'"),
        ("", "a table in CSV or Parquet"),
        ("USUBJID,TRTP\nx,a\ny,b\nz,NA\n", "row 3, TRTP: got None, expected one of a, b"),
        ("USUBJID,TRTP\nx,a\nNA,b\n", "row 2, USUBJID: got ''"),
        ("USUBJID,subject,TRTP\nx,x,a\n", "subject and USUBJID"),
        ("USUBJID,TRTP,MEMO\nx,a,abc\ny,b,\n", "row 1, MEMO: got 'abc'"),
        ("USUBJID,TRTP,RECPOS\nx,a,nan\ny,b,1\n", "RECPOS: got 'nan'"),
        ("USUBJID,TRTP,PROB_a,PROB_b\nx,a,7,-3\n", "probabilities from 0 to 1"),
        ("USUBJID,TRTP,TRTA,TRTASTAT\nx,a,b,nothing\ny,b,,\n", "TRTASTAT is NOTHING"),
        (
            "subject,chosen,actual\nx,walk,walk\ny,tea,wlak\n",
            "row 2, TRTA: got 'wlak', expected one of tea, walk (did ",
        ),
        ("subject,chosen,actual\nx,a,a\ny,b,nothing\n", "leave TRTA empty and set TRTASTAT to NOTHING or OTHER"),
        ("subject,chosen,actul\nx,a,a\ny,b,b\n", "unknown column 'actul'; did you mean 'actual'?"),
        ("subject,arm,reward\nx,a,1\n", "got 'subject, arm, reward', expected at least USUBJID (subject) and TRTP"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused_and_nothing_kept(tmp_path: Path, text: str, complaint: str) -> None:
    path, store = tmp_path / "bad.csv", open_store()
    path.write_text(text)

    def read() -> None:
        table = read_table(path)
        import_table(table, store, make_design("bad", "thompson", arms_in(table)))

    with pytest.raises(InputError) as refused:
        read()
    assert complaint in str(refused.value)
    with store.reading() as view:
        assert view.trials() == {}


def test_success_and_failure_are_rewards_of_1_and_0(tmp_path: Path) -> None:
    path, store = tmp_path / "t.csv", open_store()
    path.write_text("subject,chosen,actual,reward\nx,a,a,TRUE\ny,b,b,false\nz,b,a,1\n")
    tables = [read_table(path)]
    pl.DataFrame(
        {
            "subject": ["x", "y", "z"],
            "chosen": ["a", "b", "b"],
            "actual": ["a", "b", "a"],
            "reward": [True, False, True],
        }
    ).write_parquet(path.with_suffix(".parquet"))
    tables.append(read_table(path.with_suffix(".parquet")))
    for number, table in enumerate(tables):
        assert set(rewards_in(table)) == {0.0, 1.0}
        import_table(table, store, make_design(f"t{number}", "ucb1", arms_in(table)))
    with store.reading() as view:
        states = [decode_snapshot(view.head(number).snapshot) for number in (1, 2)]
    assert states[0] is not None
    assert states[1] is not None
    assert states[0].policy_state == states[1].policy_state


def test_an_imputed_reward_and_the_true_arm_are_one_update_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for secret in (bytes([number]) * 32 for number in range(6)):
        monkeypatch.setattr(creation, "new_secret", lambda drawn=secret: drawn)  # so learning draws the same
        rule = Imputation(after_days=1, actual="walk", reward=0.5)
        live = Live("thompson/actual", secret=secret, impute=rule, reward_values=(0.0, 0.5, 1.0))
        live.recommend("s")
        live.clock.pass_days(2)
        live.impute_missing()
        live.report(0, actual="aspirin")
        written(live, tmp_path / "t.csv")
        store = open_store()
        design = make_design("again", "thompson/actual", live.design.arms, reward_values=(0.0, 0.5, 1.0))
        import_table(read_table(tmp_path / "t.csv"), store, design)
        with store.reading() as view:
            snapshot = decode_snapshot(view.head(1).snapshot)
        assert snapshot is not None
        assert snapshot.policy_state == live.snapshot().policy_state


def test_a_correction_changes_the_words_and_keeps_the_day(tmp_path: Path) -> None:
    live = Live()
    live.recommend("s")
    seen = live.clock()
    live.report(0, took_other="tea", reward=1.0, happened=seen)
    live.clock.pass_days(90)
    live.correct(0, took_other="cocoa", reward=0.0)
    written(live, tmp_path / "t.parquet")
    (row,) = pl.read_parquet(tmp_path / "t.parquet").to_dicts()
    assert (row["TRTAOTH"], row["AVAL"], row["ADTM"], row["TRTADTM"]) == ("cocoa", 0.0, seen, seen)
