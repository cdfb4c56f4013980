"""What every store does, in memory, in a SQLite file and in PostgreSQL: method by method."""

from __future__ import annotations

import pytest

from adhere.errors import InputError
from adhere.store import Store, StoreError, UpdateBlock
from adhere.store.access import accesses, add_access
from adhere.store.records import Subject, Token
from adhere.store.subjects import erase, is_erased, looking_alike

from .places import START, append, fetch, fill, head_at, make_trial, record

EVERY_BYTE = bytes(range(256))
ID = "4K7T-9QXA-M98F-RJCB"


def test_trials_are_numbered_in_the_order_they_were_made(store: Store) -> None:
    numbers = [make_trial(store, name) for name in ("b", "ä β", "a")]
    with store.reading() as view:
        assert list(view.trials().items()) == list(zip(("b", "ä β", "a"), numbers, strict=True))
        assert view.head(numbers[1]) == START


def test_a_name_is_taken_once(store: Store) -> None:
    make_trial(store)
    with pytest.raises(InputError, match="name: got 'aspirin', expected a name that no other trial has"):
        make_trial(store)
    make_trial(store, "Aspirin")
    with store.reading() as view:
        assert list(view.trials()) == ["aspirin", "Aspirin"]


def test_a_trial_that_is_not_there(store: Store) -> None:
    with store.reading() as view, pytest.raises(StoreError, match="no trial of number 7"):
        view.head(7)


def test_what_was_appended_is_read_as_it_was(store: Store) -> None:
    trial, other = make_trial(store), make_trial(store, "other")
    first = record(1, "r-1", 1, "s")._replace(body=EVERY_BYTE, hash=EVERY_BYTE)
    rest = [record(2), record(3, "ünïque ✓", 2**40, "t")]
    fill(store, other, record(1, "r-1"))
    fill(store, trial, first)
    fill(store, trial, *rest)
    with store.reading() as view:
        assert view.records(trial) == [first, *rest]
        assert view.records(trial, after=1) == rest
        assert view.records(trial, after=1, limit=1) == rest[:1]
        assert view.records(trial, after=3) == []
        assert view.head(trial) == head_at(3)
        assert view.head(other) == head_at(1)
        assert {type(value) for value in (*view.head(trial)[1:], *view.records(trial)[0][1:3])} == {bytes}


def test_secrets_are_found_by_their_commitments(store: Store) -> None:
    trial, other = make_trial(store), make_trial(store, "other")
    with store.reading() as view:
        assert not view.has_secrets()
    with store.writing() as transaction:
        transaction.save_secret(trial, "first epoch", EVERY_BYTE)
        transaction.save_secret(trial, "second epoch", b"second")
        transaction.save_secret(other, "of the other", b"other")
        assert transaction.secret("second epoch") == b"second"
    with store.reading() as view:
        found = [view.secret(commitment) for commitment in ("first epoch", "second epoch", "of the other", "none")]
        assert found == [EVERY_BYTE, b"second", b"other", None]
        assert type(found[0]) is bytes
        assert view.has_secrets()

    def replace_it() -> None:
        with store.writing() as transaction:
            transaction.save_secret(other, "first epoch", b"another")

    with pytest.raises(StoreError):
        replace_it()
    with store.reading() as view:
        assert view.secret("first epoch") == EVERY_BYTE


def test_codes_that_look_alike_are_found_among_those_of_a_site(store: Store) -> None:
    trial, other = make_trial(store), make_trial(store, "other")
    known = ["A/S-01", "A/s-o1", "A/S - OI", "A/S-02", "AB/S-01", "A0/S-01", "/S-01", "A'/S-01", "a/S-01"]
    with store.writing() as transaction:
        transaction.add_subjects(trial, [Subject(one, f"key {n}", b"salt", n) for n, one in enumerate(known)])
        transaction.add_subjects(other, [Subject("A/S-01", "another key", b"salt", 0)])
    with store.reading() as view:
        alike = {site: looking_alike(view, trial, site, "S-O1") for site in ("A", "", "A'", "B")}
    assert [one.pseudonym for one in alike["A"]] == ["A/S - OI", "A/S-01", "A/s-o1"]
    assert [[one.latest for one in alike[site]] for site in ("", "A'", "B")] == [[6], [7], []]


def test_codes_that_look_alike_are_found_in_every_language(store: Store) -> None:
    trial = make_trial(store)
    sites = ("Zürich", "İzmir", "Straße", "Σίδνεϊ", "東京")
    codes = {"L-001": "l 0o1", "İ-7": "ı7", "Größe-1": "GROSSE 1", "Zoë": "zoe"}  # as entered, and as typed later
    known = [f"{site}/{code}" for site in sites for code in codes]
    with store.writing() as transaction:
        transaction.add_subjects(trial, [Subject(one, f"key {one}", b"salt", 0) for one in known])
    with store.reading() as view:
        found = [looking_alike(view, trial, site, typed) for site in sites for typed in codes.values()]
    assert [[one.pseudonym for one in alike] for alike in found] == [[one] for one in known]


def test_appending_nothing_moves_the_head(store: Store) -> None:
    trial = make_trial(store)
    with store.writing() as transaction:
        transaction.append(trial, [], head_at(0))
    with store.reading() as view:
        assert view.head(trial) == head_at(0)


def test_all_or_nothing(store: Store) -> None:
    trial = make_trial(store)
    subject = Subject("anna", "key", b"salt")

    def write_and_fail() -> None:
        with store.writing() as transaction:
            transaction.lock_and_fetch(trial, [], [], [])()[0]
            append(transaction, trial, record(1, "r"))
            transaction.add_subjects(trial, [subject])
            transaction.save_note(trial, 1, b"salt", "text")
            transaction.save_states(trial, [(1, b"state")])
            transaction.save_secret(trial, "commitment", b"secret")
            transaction.add_token(Token(0, b"digest", "reader", None, None, "", "now"))
            transaction.add_trial("second", START)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_and_fail()
    with store.writing() as transaction:
        assert transaction.state_before(trial, 2) is None
        assert fetch(transaction, trial, ["r"], [], ["anna"]) == ({}, {}, {})
    with store.reading() as view:
        assert (view.head(trial), view.records(trial), list(view.trials())) == (START, [], ["aspirin"])
        assert (list(view.subjects(trial)), view.notes(trial), view.tokens()) == ([], {}, [])
        assert view.secret("commitment") is None
    fill(store, trial, record(1, "r"))


@pytest.mark.parametrize("twice", [record(2, "r-1"), record(1, "r-2")], ids=["request", "position"])
def test_nothing_is_written_twice(store: Store, twice: object) -> None:
    trial = make_trial(store)
    fill(store, trial, record(1, "r-1"))
    with pytest.raises(StoreError):
        fill(store, trial, record(3, "r-3"), twice)  # type: ignore[arg-type]
    with store.reading() as view:
        assert view.records(trial) == [record(1, "r-1")]
        assert view.head(trial) == head_at(1)
    fill(store, make_trial(store, "other"), record(1, "r-1"))
    fill(store, trial, record(2), record(3))


def test_a_transaction_is_not_begun_within_another(store: Store) -> None:
    trial = make_trial(store)

    def nest() -> None:
        with store.writing() as transaction:
            append(transaction, trial, record(1))
            try:
                with store.writing() as inner:
                    append(inner, trial, record(2))
            finally:
                append(transaction, trial, record(3))

    with pytest.raises(StoreError, match="within"):
        nest()
    with store.reading() as view:
        assert view.records(trial) == []


def test_find(store: Store) -> None:
    trial, other = make_trial(store), make_trial(store, "other")
    fill(store, other, record(1, "r-1", 1), record(2, "r-9", 2))
    with store.writing() as transaction:
        assert transaction.lock_and_fetch(trial, [], [], [])()[0] == START
        transaction.add_subjects(trial, [Subject("anna", "key a", b"\0a", 1), Subject("ben", "key b", b"\0b")])
        transaction.set_latest(trial, Subject("anna", "key a", b"\0a", 2))
        append(
            transaction,
            trial,
            record(1, "r-1", 1, "key a"),
            record(2, "r-2", 2, "key a"),
            record(3, "r-3", 1),
            record(4, "r-4", 4),
            record(5, "r-5", 2),
        )
    with store.writing() as transaction:
        found = fetch(transaction, trial, ["r-3", "r-1", "r-9"], [1, 77], ["anna", "ben", "cleo"])
        assert found.requests == {"r-1": b"body 1", "r-3": b"body 3"}
        # Those asked for, and the latest of everybody who is asked for.
        assert found.histories == {1: [b"body 1", b"body 3"], 2: [b"body 2", b"body 5"]}
        assert found.subjects == {
            "anna": Subject("anna", "key a", b"\0a", 2),
            "ben": Subject("ben", "key b", b"\0b", None),
        }
        assert fetch(transaction, trial, [], [], []) == ({}, {}, {})
        assert fetch(transaction, trial, [], [2], ["anna"]).histories == {2: [b"body 2", b"body 5"]}
        # Several may be taken before the first result is called for.
        both = [transaction.lock_and_fetch(number, ["r-1"], [1], ["ben"]) for number in (trial, other)]
        (head, there), (other_head, elsewhere) = (fetched() for fetched in both)
        assert (head.position, there) == (5, fetch(transaction, trial, ["r-1"], [1], ["ben"]))
        assert (other_head.position, elsewhere) == (2, fetch(transaction, other, ["r-1"], [1], ["ben"]))


def test_find_many(store: Store) -> None:
    trial = make_trial(store)
    count = 1500
    records = [record(position, f"r-{position}", position) for position in range(1, count + 1)]
    with store.writing() as transaction:
        append(transaction, trial, *records)
        transaction.add_subjects(trial, [Subject(f"p-{number}", f"k-{number}", b"") for number in range(count)])
        found = fetch(
            transaction,
            trial,
            [record.request_id or "" for record in records],
            range(1, count + 1),
            [f"p-{number}" for number in range(count)],
        )
    assert [len(part) for part in found] == [count] * 3


def test_histories_until_a_position(store: Store) -> None:
    trial = make_trial(store)
    fill(store, trial, record(1, None, 1), record(2, None, 2), record(3, None, 1), record(4, None, 3))
    with store.reading() as view:
        assert view.histories(trial, [1, 3]) == {1: [b"body 1", b"body 3"], 3: [b"body 4"]}
        assert view.histories(trial, [1, 3], until=3) == {1: [b"body 1", b"body 3"]}
        assert view.histories(trial, [3, 1], until=2) == {1: [b"body 1"]}
        assert view.histories(trial, []) == {}


def test_subjects_and_notes_are_erased(store: Store) -> None:
    trial, other = make_trial(store), make_trial(store, "other")
    anna, ben, zoe = (Subject(name, f"key {name}", EVERY_BYTE) for name in ("anna", "ben", "Zoe"))
    with store.writing() as transaction:
        for number in (trial, other):
            transaction.add_subjects(number, [anna, ben, zoe])
            # Anna had the first recommendation, Ben the second; the third record is about Anna's.
            append(transaction, number, record(1, None, 1, anna.key), record(2, None, 2, ben.key), record(3, None, 1))
            for position in (1, 2, 3):
                transaction.save_note(number, position, EVERY_BYTE, f"fünf {position}")
    with store.reading() as view:
        assert list(view.subjects(trial)) == [zoe, anna, ben]  # by their bytes, in every store
        assert view.notes(trial) == {position: (EVERY_BYTE, f"fünf {position}") for position in (1, 2, 3)}
    with store.writing() as transaction:
        erase(transaction, trial, anna)
        erase(transaction, trial, zoe)
    with store.reading() as view:
        assert list(view.subjects(trial)) == [ben]
        assert list(view.notes(trial)) == [2]
        assert (len(list(view.subjects(other))), len(view.notes(other))) == (3, 3)
    with store.writing() as transaction:
        assert list(fetch(transaction, trial, [], [], ["anna", "ben"]).subjects) == ["ben"]
        transaction.add_subjects(trial, [anna])


def test_whose_recommendations_were_erased(store: Store) -> None:
    trial, other = make_trial(store), make_trial(store, "other")
    with store.writing() as transaction:
        for number in (trial, other):
            transaction.add_subjects(number, [Subject(name, f"key {name}", b"") for name in ("anna", "ben")])
            append(transaction, number, record(1), record(2, None, 0, "key anna"), record(3, None, 1, "key ben"))
            append(transaction, number, record(4, None, 0), record(5, None, 1))
        erase(transaction, trial, Subject("anna", "key anna", b""))
        assert is_erased(transaction, trial, 0)
    with store.reading() as view:
        found = [is_erased(view, number, index) for number in (trial, other) for index in (0, 1, 2)]
    assert found == [True, False, False, False, False, False]


def test_a_pseudonym_is_enrolled_once(store: Store) -> None:
    trial = make_trial(store)
    with store.writing() as transaction:
        transaction.add_subjects(trial, [Subject("anna", "k", b"")])

    def again() -> None:
        with store.writing() as transaction:
            transaction.add_subjects(trial, [Subject("anna", "l", b"")])

    with pytest.raises(StoreError):
        again()
    with store.reading() as view:
        assert [subject.key for subject in view.subjects(trial)] == ["k"]


def test_the_state_before_a_position(store: Store) -> None:
    trial, other = make_trial(store), make_trial(store, "other")
    with store.writing() as transaction:
        transaction.save_states(other, [(5, b"other")])
        for position in (0, 10, 20):
            transaction.save_states(trial, [(position, EVERY_BYTE + bytes([position]))])
    with store.writing() as transaction:
        before = {position: transaction.state_before(trial, position) for position in (0, 1, 10, 11, 99)}
        assert before == {
            0: None,
            1: (0, EVERY_BYTE + b"\0"),
            10: (0, EVERY_BYTE + b"\0"),
            11: (10, EVERY_BYTE + b"\n"),
            99: (20, EVERY_BYTE + b"\x14"),
        }
        transaction.drop_states(trial, 10)
        assert transaction.state_before(trial, 99) == (0, EVERY_BYTE + b"\0")
        assert transaction.state_before(other, 99) == (5, b"other")


def test_tokens(store: Store) -> None:
    one = Token(0, EVERY_BYTE, "site", "Graz", "aspirin", "nurse ✓", "2026-01-01")
    with store.writing() as transaction:
        first = transaction.add_token(one)
        second = transaction.add_token(Token(0, b"2", "reader", None, None, "", "2026-01-02"))
    assert first == one._replace(id=first.id)
    assert second.id > first.id
    with store.writing() as transaction:
        assert transaction.revoke_token(first.id, "2026-02-01")
        assert not transaction.revoke_token(first.id, "2026-03-01")
        assert not transaction.revoke_token(12345, "2026-03-01")
    with store.reading() as view:
        assert view.tokens() == [first._replace(revoked_at="2026-02-01"), second]
    with pytest.raises(StoreError), store.writing() as transaction:
        transaction.add_token(one)


def test_blocks_of_updates_are_found_by_their_place_replaced_and_dropped(store: Store) -> None:
    trial, other = make_trial(store), make_trial(store, "other")
    blocks = [UpdateBlock(first, n, EVERY_BYTE * n) for first, n in ((3, 2), (9, 1), (12, 4))]
    with store.writing() as transaction:
        for block in blocks:
            transaction.save_updates(trial, block)
        transaction.save_updates(other, UpdateBlock(9, 7, b"other"))
    with store.reading() as view:
        assert list(view.updates(trial, 0, 100)) == blocks
        assert list(view.updates(trial, 3, 9)) == blocks[1:2]
        assert (view.count_updates(trial), view.count_updates(other)) == (7, 7)
    with store.writing() as transaction:
        transaction.save_updates(trial, UpdateBlock(9, 3, b"new"))
        assert transaction.count_updates(trial) == 9
        transaction.drop_updates(trial, 0, 9)
        assert list(transaction.updates(trial, 0, 100)) == blocks[2:]
        assert transaction.count_updates(other) == 7


def test_reads_are_written_down_and_counted(store: Store) -> None:
    trial, other = make_trial(store), make_trial(store, "other")
    with store.writing() as transaction:
        token = transaction.add_token(Token(0, b"digest", "statistician", None, None, "Ann", "now")).id
        add_access(transaction, trial, "9:00", token, "recommendation", ID)
        add_access(transaction, trial, "9:00", token, "recommendation", ID)
        add_access(transaction, trial, "9:00", token, "results")
    fill(store, trial, record(1))
    with store.writing() as transaction:
        add_access(transaction, trial, "9:00", token, "results")
        add_access(transaction, other, "9:00", token, "results")
        add_access(transaction, trial, "9:10", 77, "results")
    with store.reading() as view:
        found = accesses(view, trial)
        assert [row[1:] for row in found] == [
            ("9:00", token, "Ann", "recommendation", ID, b"start", 1),
            ("9:00", token, "Ann", "recommendation", ID, b"start", 1),
            ("9:00", token, "Ann", "results", None, head_at(1).hash, 2),
            ("9:10", 77, "", "results", None, head_at(1).hash, 1),
        ]
        assert accesses(view, trial, after=found[0].id, limit=2) == found[1:3]
        assert len(accesses(view, other)) == 1
