"""The one secret of a live trial: it draws arms and makes kits, the log commits to it, and nothing tells it."""

from __future__ import annotations

import base64
import hashlib
import logging
from pathlib import Path
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from adhere import Trial
from adhere.design.make_design import make_design
from adhere.errors import ConflictError, InputError, SecretUnknownError, UnknownError
from adhere.store import open_store
from adhere.trial.domain.commands import (
    ChangeStatus,
    Correct,
    Receipt,
    Recommend,
    RecommendationResponse,
    Report,
    Reveal,
    Unblind,
)
from adhere.trial.domain.events import AnyEvent, Created, Event, Recommended, Revealed
from adhere.trial.domain.log_records import walk
from adhere.trial.log.explain import explain
from adhere.trial.log.log_file import read_log, write_log
from adhere.trial.log.replay import replay
from adhere.trial.log.table import write_table
from adhere.trial.log.verify import verify
from adhere.trial.secret.kits import Kits
from adhere.trial.secret.trial_secret import ArmKeys, commitment_to, id_key, kit_key, public_keys, secret_of_seed
from adhere.trial.writing.processor import CommandProcessor

from .live import ARMS, SECRET, UNKNOWN_ID, Live, number_of, send, verdict_of

Kind = TypeVar("Kind", bound=Event)
OTHER = bytes(32)


def of(events: list[AnyEvent], kind: type[Kind]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def live_with(secret: bytes | None, policy: str = "uniform", **design: Any) -> Live:
    """A trial whose secret is drawn, or given."""
    return Live(policy, **design, secret=secret)


def arms_of(live: Live, n: int = 64) -> list[int]:
    for number in range(n):
        live.recommend(f"s{number}")
    return [event.chosen for event in of(live.events(), Recommended)]


def test_keys_are_digests_of_secret_label_and_index() -> None:
    """As the docs have it, so that anybody can draw the arms again once the secret is revealed."""

    def keyed(label: bytes, message: bytes, size: int) -> bytes:
        return hashlib.blake2b(message, digest_size=size, key=SECRET, person=label).digest()

    for index in (0, 1, 258):
        digest = keyed(b"adhere arm", index.to_bytes(8, "big"), 16)
        assert ArmKeys(SECRET).at(index) == (int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big"))
    assert kit_key(SECRET) == keyed(b"adhere kits", b"", 32)
    assert id_key(SECRET) == keyed(b"adhere ids", b"", 32)
    assert commitment_to(SECRET) == hashlib.sha256(b"adhere trial secret\0" + SECRET).hexdigest()


def test_labels_and_indices_separate_keys() -> None:
    """No key is that of another use, of another recommendation or of another secret, and none is the secret."""
    found: list[bytes] = []
    for secret in (SECRET, OTHER, secret_of_seed(0), secret_of_seed(0, 1), secret_of_seed(1)):
        pairs = [ArmKeys(secret).at(index) for index in (*range(100), 2**40)] + [public_keys(commitment_to(secret))]
        found += [key.to_bytes(8, "big") for pair in pairs for key in pair]
        parts = kit_key(secret), id_key(secret), secret
        found += [part[first : first + 8] for part in parts for first in range(0, 32, 8)]
    assert len(set(found)) == len(found) - 3  # the four parts of `OTHER`, which are all zeros


def test_a_secret_is_drawn_and_the_first_record_commits_to_it() -> None:
    drawn = []
    for _ in range(2):
        live = live_with(None, blinded=True)
        (created,) = of(live.events(), Created)
        assert created.seed is None
        with live.store.reading() as view:
            secret = view.secret(created.commitment)
        assert secret is not None
        assert commitment_to(secret) == created.commitment
        drawn.append((secret, arms_of(live), str(live.recommend("s0").kit)))
    assert len({secret for secret, *_ in drawn}) == len({tuple(arms) for _, arms, _ in drawn}) == 2
    assert len({kit for *_, kit in drawn}) == 2


def test_no_seed_gives_the_arms() -> None:
    """The attack: whoever has seen some arms tries every seed, to predict the next one."""
    seen = [ARMS[arm] for arm in arms_of(live_with(None), 40)]
    for seed in range(300):
        trial = Trial("uniform", ARMS, seed)
        assert any(trial.recommend().arm != arm for arm in seen)


def test_the_secret_draws_the_arms_and_makes_the_kits_and_not_the_ids() -> None:
    one, same, other = (live_with(secret, blinded=True) for secret in (SECRET, SECRET, OTHER))
    arms = [arms_of(live) for live in (one, same, other)]
    assert arms[0] == arms[1] != arms[2]
    kits = [[live.recommend(f"s{n}").kit for n in range(64)] for live in (one, same, other)]
    assert kits[0] == kits[1] == [Kits("t", SECRET).code("", n) for n in range(64)]
    assert not set(kits[0]) & set(kits[2])
    ids = [{event.recommendation_id for event in of(live.events(), Recommended)} for live in (one, same)]
    assert not ids[0] & ids[1]


def test_what_is_recorded_but_for_the_commitment_does_not_tell_the_kits() -> None:
    """Two trials in which the same arms were drawn by different secrets have different kits."""
    arms = arms_of(one := live_with(SECRET, blinded=True), 4)
    others = (live_with(bytes([byte]) * 32, blinded=True) for byte in range(256))
    two = next(live for live in others if arms_of(live, 4) == arms)
    kits = [[live.recommend(f"s{n}").kit for n in range(4)] for live in (one, two)]
    assert not set(kits[0]) & set(kits[1])
    apart = {"subject": "", "digest": "", "recommendation_id": ""}
    recorded = [[replace(event, **apart) for event in of(live.events(), Recommended)] for live in (one, two)]
    assert recorded[0] == recorded[1]
    created = [of(live.events(), Created)[0] for live in (one, two)]
    assert created[0].commitment != created[1].commitment
    assert replace(created[0], commitment="") == replace(created[1], commitment="")


@pytest.mark.parametrize("blinded", [False, True])
def test_nothing_that_leaves_the_store_has_the_secret(
    blinded: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answers: list[object] = []
    live = live_with(SECRET, "thompson", blinded=blinded)
    for number in range(3):
        made = live.recommend(f"s{number}")
        answers += [made, live.report(number, actual=made.kit or made.arm, reward=1.0)]
    if blinded:
        answers.append(live.send(Unblind(trial="t", request_id="u", kit=str(made.kit), reason="emergency")))
    for refused in (
        Report(trial="t", request_id="x", recommendation_id=live.id_of(0), actual="XXXX-XXXX"),
        Reveal(trial="t", request_id="y", reason="curious"),
    ):
        with pytest.raises(InputError) as refusal:
            live.send(refused)
        answers.append(refusal.value)
    answers.append(live.processor.create(live.design))
    assert verify_of(live).secret == "kept"
    with live.store.reading() as view:
        records = [record.body for record in walk(view, number_of(view))]
        snapshot = view.head(number_of(view)).snapshot
        told = list(explain(view, number_of(view), live.id_of(0)))
        write_log(view, 1, tmp_path / "t.log")
        for form in ("csv", "parquet"):
            write_table(view, 1, live.design, tmp_path / f"t.{form}", form)
    trial = live.processor.trial("t")
    shown = repr((answers, trial, trial.engine, trial.engine.keys, trial.kits, told, live.snapshot(), caplog.text))
    exports = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert len(exports) == 3
    everything = b"\n".join([*records, snapshot, shown.encode(), *exports])
    assert not [written for written in spellings(SECRET) if written in everything]
    for key in (kit_key(SECRET), id_key(SECRET)):
        assert not [written for written in spellings(key) if written in everything]
    assert commitment_to(SECRET).encode() in everything


def spellings(secret: bytes) -> list[bytes]:
    """A secret as it is, in hexadecimal digits, in base64, as Python writes bytes, and as a number."""
    text = base64.b64encode(secret).rstrip(b"=")
    as_python = repr(secret)[2:-1].encode()
    number = str(int.from_bytes(secret, "big")).encode()
    hexadecimal = secret.hex().encode()
    return [secret, hexadecimal, hexadecimal.upper(), text, base64.urlsafe_b64encode(secret)[:43], as_python, number]


def verify_of(live: Live) -> Any:
    with live.store.reading() as view:
        return verify(view, number_of(view))


def test_a_test_may_give_the_secret() -> None:
    processor = Live().processor
    design = make_design("u", "thompson/actual", ARMS, blinded=True)
    with pytest.raises(InputError, match="secret: got '3 bytes', expected 32 bytes"):
        processor.create(design, secret=b"abc")
    processor.create(design, secret=OTHER)
    made = send(processor, Recommend(trial="u", request_id="r", site="Leeds", subject="s"))
    assert isinstance(made, RecommendationResponse)
    assert made.kit == Kits("u", OTHER).code("", 0)


def test_a_trial_that_is_not_blinded_has_no_kits() -> None:
    live = Live()
    assert live.recommend("s").kit is None
    with pytest.raises(ConflictError, match="a blinded trial"):
        live.send(Unblind(trial="t", request_id="u", kit=Kits("t", SECRET).code("", 0), reason="emergency"))


def without_secret(live: Live, change: str) -> CommandProcessor:
    """A service that starts after somebody deleted the secret, or put another one in its place."""
    with live.store.writing() as writing:
        if change == "swapped":
            writing.run("UPDATE secrets SET secret = ?", (OTHER,))
        else:
            writing.run("DELETE FROM secrets")
    return CommandProcessor(live.store, live.clock)


@pytest.mark.parametrize("change", ["lost", "swapped"])
@pytest.mark.parametrize("blinded", [False, True])
def test_without_the_right_secret_a_trial_neither_recommends_nor_knows_its_kits(change: str, blinded: bool) -> None:
    """It can be read, and takes reports that name no kit (below)."""
    live = Live(blinded=blinded)
    made = [live.recommend(f"s{n}") for n in range(3)]
    live.report(0, actual=made[0].kit or made[0].arm, reward=1.0)
    processor = without_secret(live, change)
    with live.store.reading() as view:
        before = view.head(1)
        found, again = verify(view, 1), None if change == "swapped" else replay(view, 1)
        assert list(explain(view, 1, made[0].recommendation_id))[-1].endswith("reward 1, by 1")
    if change == "swapped":
        assert found.fault is not None
        assert f"the stored secret does not match the commitment {commitment_to(SECRET)}" in found.fault.what
    else:
        assert (found.fault, found.secret) == (None, "unknown")
        assert again is not None
        assert (again.difference, again.n_derived, again.n_by_log) == (None, 0, 3)
    site: dict[str, Any] = {"trial": "t", "site": "Leeds"}
    own: dict[str, Any] = {**site, "recommendation_id": made[1].recommendation_id}
    kit = str(made[1].kit)
    for refused in (
        Recommend(request_id="a", subject="other", **site),
        Recommend(request_id="b", subject="s2", **site),  # who has one that is open
    ):
        with pytest.raises(
            SecretUnknownError, match="does not match the commitment" if change == "swapped" else "not known here"
        ):
            send(processor, refused)
    why = "does not match, so it cannot" if change == "swapped" else "missing, so it cannot"
    for naming in (
        Report(request_id="d", actual=kit, **own),
        Correct(request_id="e", actual=kit, reason="slip", **own),
    ):
        with pytest.raises(InputError, match=why if blinded else "actual"):
            send(processor, naming)
    for unblind in (
        Unblind(request_id="f", kit=kit, reason="emergency", **site),
        Unblind(request_id="g", kit=kit, reason="emergency", trial="t"),
    ):
        with pytest.raises(ConflictError, match=why if blinded else "a blinded trial"):
            send(processor, unblind)
    with live.store.reading() as view:
        assert view.head(1) == before


def test_another_trial_of_the_store_goes_on_without_that_secret() -> None:
    live = Live()
    live.processor.create(make_design("u", "thompson", ARMS), secret=OTHER)
    with live.store.writing() as writing:
        writing.run("DELETE FROM secrets WHERE trial = ?", (number_of(writing),))
    processor = CommandProcessor(live.store, live.clock)
    made = send(processor, Recommend(trial="u", request_id="r", site="Leeds", subject="s"))
    assert isinstance(made, RecommendationResponse)
    with pytest.raises(SecretUnknownError):
        send(processor, Recommend(trial="t", request_id="r", site="Leeds", subject="s"))


def closed(**design: Any) -> Live:
    live = Live(**design)
    for number in range(4):
        live.recommend(f"s{number}")
        live.report(number, reward=float(number % 2))
    live.send(ChangeStatus(trial="t", request_id="", status="closed", reason="planned"))
    return live


def reveal(live: Live, request_id: str = "v") -> None:
    live.send(Reveal(trial="t", request_id=request_id, reason="publication"))


def test_a_closed_trial_reveals_its_secret_once(tmp_path: Path) -> None:
    live = Live()
    with pytest.raises(ConflictError, match="is not closed: its secret would disclose future arms"):
        reveal(live)
    live = closed()
    reveal(live)
    reveal(live)  # the same request again
    with pytest.raises(ConflictError, match="was already revealed; it is in the log"):
        reveal(live, "w")
    (revealed,) = of(live.events(), Revealed)
    assert (revealed.secrets, revealed.reason) == ((SECRET.hex(),), "publication")
    assert verify_of(live).secret == "revealed"
    with live.store.reading() as view:
        write_log(view, 1, tmp_path / "t.log")
        assert replay(view, 1).difference is None
    somewhere = open_store()
    assert read_log(tmp_path / "t.log", somewhere) == ("t", None)
    with somewhere.reading() as view:
        found, again = verify(view, 1), replay(view, 1)
    assert (found.fault, found.secret) == (None, "revealed")
    assert (again.difference, again.n_derived, again.n_by_log) == (None, 4, 0)


def test_a_log_without_a_revealed_secret_is_checked_by_its_probabilities(tmp_path: Path) -> None:
    live = closed()
    with live.store.reading() as view:
        write_log(view, 1, tmp_path / "t.log")
    somewhere = open_store()
    assert read_log(tmp_path / "t.log", somewhere) == ("t", None)
    with somewhere.reading() as view:
        found, again = verify(view, 1), replay(view, 1)
    assert (found.fault, found.secret) == (None, "unknown")
    assert (again.difference, again.n_derived, again.n_by_log) == (None, 0, 4)


@pytest.mark.parametrize(
    ("secrets", "what"),
    [
        ((OTHER.hex(),), "the secrets it reveals do not match the log's commitments"),
        ((), "the secrets it reveals do not match"),
        ((SECRET.hex(), SECRET.hex()), "the secrets it reveals do not match"),
        (("",), "the secrets it reveals do not match"),
        (("nonsense",), "the secrets it reveals do not match"),
    ],
)
def test_a_secret_cannot_be_chosen_afterwards(secrets: tuple[str, ...], what: str) -> None:
    live = closed()
    reveal(live)
    events = [replace(one, secrets=secrets) if isinstance(one, Revealed) else one for one in live.events()]
    fault = verdict_of(events).fault
    assert fault is not None
    assert (fault.position, fault.what.startswith(what)) == (len(events), True)


def test_a_secret_that_was_revealed_before_the_end_is_a_fault() -> None:
    live = closed()
    reveal(live)
    *events, _, told = live.events()
    fault = verdict_of([*events, replace(told, position=len(events) + 1)]).fault
    assert fault is not None
    assert fault.what == "its secret was revealed before the trial was closed"


def test_where_a_secret_is_missing_nothing_is_revealed() -> None:
    live = closed()
    processor = without_secret(live, "lost")
    with pytest.raises(ConflictError, match="a secret of trial 't' is not stored here"):
        send(processor, Reveal(trial="t", request_id="v", reason="publication"))
    assert live.kinds()[-1] == "Closed"


def test_a_rehearsal_with_a_seed_has_nothing_to_reveal_but_may() -> None:
    live = closed(seed=5)
    assert verify_of(live).secret == "seed"
    reveal(live)
    (revealed,) = of(live.events(), Revealed)
    assert revealed.secrets == ("",)
    assert verify_of(live).fault is None


def test_an_unknown_kit_of_a_right_form_is_nobodys() -> None:
    live = Live(blinded=True)
    live.recommend("s")
    for kit in (Kits("t", OTHER).code("", 0), Kits("t", SECRET).code("", 1), Kits("t", SECRET).code("", 7)):
        with pytest.raises(InputError, match="the code of a kit of this trial"):
            live.send(Unblind(trial="t", request_id="u", kit=kit, reason="emergency"))
        with pytest.raises(UnknownError, match="the code of a kit that this site was given"):
            live.send(Unblind(trial="t", request_id="u", kit=kit, reason="emergency", site="Leeds"))


def test_without_the_secret_outcomes_of_those_who_were_treated_are_still_taken() -> None:
    live = Live()
    made = live.recommend("S-1")
    with live.store.writing() as writing:
        writing.run("DELETE FROM secrets")
    again = CommandProcessor(live.store, live.clock)
    said: dict[str, Any] = {"trial": "t", "site": "Leeds", "recommendation_id": made.recommendation_id}
    refused, taken, unknown = again.execute(
        [
            Recommend(trial="t", request_id="new", site="Leeds", subject="S-2"),
            Report(**said, request_id="taken", actual=made.arm, reward=1.0),
            Report(**{**said, "recommendation_id": UNKNOWN_ID}, request_id="unknown", reward=1.0),
        ]
    )
    assert isinstance(refused, SecretUnknownError)
    assert isinstance(taken, Receipt)
    assert isinstance(unknown, UnknownError)
    with live.store.reading() as view:
        assert verify(view, number_of(view)).fault is None
