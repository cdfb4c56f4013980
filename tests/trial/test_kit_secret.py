"""The secret of a blinded trial's kits: without it, neither the seed nor anything that is recorded tells kits."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TypeVar

import pytest
from msgspec.structs import replace

from adhere.errors import ConflictError, InputError
from adhere.trial.commands import Correct, Recommend, RecommendationResponse, Report, Unblind
from adhere.trial.events import Created, Event, Recommended, encode
from adhere.trial.kits import Kits
from adhere.trial.log.chain import START, link, verify, walk
from adhere.trial.log.replay import replay
from adhere.trial.make_design import make_design
from adhere.trial.processor import CommandProcessor

from .live import ARMS, Live, number_of, send

Kind = TypeVar("Kind", bound=Event)
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def kit_by_seed(seed: int, recommendation_id: int) -> str:
    """The code that a kit had when the seed was its key: what an attacker who read the source would try."""
    left, right = divmod(recommendation_id, 1 << 20)
    for turn in range(6):
        key, message = b"kit" + seed.to_bytes(8, "big"), bytes([turn]) + right.to_bytes(4, "big")
        mixed = int.from_bytes(hmac.digest(key, message, hashlib.sha256)[:4], "big") % (1 << 20)
        left, right = right, left ^ mixed
    letters = "".join(_LETTERS[((left << 20) + right >> shift) & 31] for shift in range(35, -5, -5))
    return f"{letters[:4]}-{letters[4:]}"


def test_two_kits_do_not_give_the_seed_away() -> None:
    """The attack: whoever has the seed can draw every arm, and two kits are enough to check a guess."""
    live = Live(blinded=True, seed=371)
    kits = [live.recommend(f"s{n}").kit for n in range(2)]
    assert [seed for seed in range(1000) if [kit_by_seed(seed, n) for n in range(2)] == kits] == []


def test_nothing_that_leaves_the_store_tells_the_kits() -> None:
    """Two trials that record the same but for the digest have other kits: what is recorded does not tell them."""
    one, two = Live(blinded=True, seed=371), Live(blinded=True, seed=371)
    kits = [[live.recommend(f"s{n}").kit for n in range(4)] for live in (one, two)]
    assert not set(kits[0]) & set(kits[1])
    salted = {"subject": "", "digest": ""}  # which covers the subject's key
    recorded = [[replace(event, **salted) for event in of(live, Recommended)] for live in (one, two)]
    assert recorded[0] == recorded[1]
    created = [of(live, Created)[0] for live in (one, two)]
    assert created[0].kit_secret_digest != created[1].kit_secret_digest
    assert replace(created[0], kit_secret_digest="") == replace(created[1], kit_secret_digest="")


def test_the_first_record_has_the_digest_and_no_record_the_secret() -> None:
    live = Live(blinded=True)
    live.report(0, actual=live.recommend("s").kit, reward=1.0)
    with live.store.reading() as view:
        secret = view.kit_secret(number_of(view))
        bodies = b"".join(record.body for record in walk(view, number_of(view)))
        assert verify(view, number_of(view)).fault is None
    assert secret is not None
    assert len(secret) == 32
    digest = hashlib.sha256(b"adhere kit secret\0" + secret).hexdigest()
    assert of(live, Created)[0].kit_secret_digest == digest
    assert not any(written in bodies for written in spellings(secret))
    assert "kit_secret" not in repr(live.processor.trial("t"))
    assert not any(written in repr(live.processor.trial("t")).encode() for written in spellings(secret))


def test_a_trial_that_is_not_blinded_has_no_secret() -> None:
    live = Live()
    with live.store.reading() as view:
        assert view.kit_secret(number_of(view)) is None
    assert of(live, Created)[0].kit_secret_digest == ""
    with pytest.raises(ConflictError, match="a blinded trial"):
        live.send(Unblind(trial="t", request_id="u", kit="0000-0000", reason="emergency"))
    with pytest.raises(InputError, match="the trial is not blinded"):
        live.processor.create(replace(live.design, name="u"), kit_secret=bytes(32))


def test_a_test_may_give_the_secret() -> None:
    processor = Live().processor
    design = make_design("u", "thompson/actual", ARMS, blinded=True)
    with pytest.raises(InputError, match="kit secret: got '3 bytes', expected 32 bytes"):
        processor.create(design, kit_secret=b"abc")
    processor.create(design, seed=5, kit_secret=bytes(32))
    made = send(processor, Recommend(trial="u", request_id="r", site="Leeds", subject="s"))
    assert isinstance(made, RecommendationResponse)
    assert made.kit == Kits("u", bytes(32)).code(0)


def without_secret(live: Live, change: str) -> CommandProcessor:
    """A processor that finds the store as an older adhere, or somebody who tampered with it, left it."""
    with live.store.writing() as writing:
        if change == "older":
            body = encode(replace(of(live, Created)[0], log_format=2, kit_secret_digest=""))
            digest = link(START, body)
            writing.run("UPDATE records SET body = ?, hash = ? WHERE position = 1", (body, digest))
            writing.append(1, [], writing.head(1)._replace(hash=digest))
        if change == "swapped":
            writing.run("UPDATE kit_secrets SET secret = ?", (bytes(32),))
        else:
            writing.run("DELETE FROM kit_secrets")
    return CommandProcessor(live.store, live.clock)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("older", "this one was created before kits had a secret"),
        ("lost", "this one's is missing"),
        ("swapped", "the secret in the store is another"),
    ],
)
def test_without_the_right_secret_a_trial_can_be_read_but_tells_no_kits(change: str, says: str) -> None:
    live = Live(blinded=True)
    if change != "older":
        kit = live.recommend("s").kit
    processor = without_secret(live, change)
    with live.store.reading() as view:
        before = view.head(1)
        fault = verify(view, 1).fault
        assert replay(view, 1).difference is None
    assert (fault is not None and "kit secret" in fault.what) == (change == "swapped")
    for command in (
        Recommend(trial="t", request_id="a", site="Leeds", subject="other"),
        Unblind(trial="t", request_id="b", kit="0000-0000", reason="emergency"),
    ):
        with pytest.raises(ConflictError, match=says):
            send(processor, command)
    if change != "older":
        for request in (
            Report(trial="t", request_id="c", site="Leeds", recommendation_id=0, actual=kit),
            Correct(trial="t", request_id="d", site="Leeds", recommendation_id=0, actual=kit, reason="slip"),
        ):
            with pytest.raises(ConflictError, match=says):
                send(processor, request)
    with live.store.reading() as view:
        assert view.head(1) == before
    if change != "older":
        send(processor, Report(trial="t", request_id="e", site="Leeds", recommendation_id=0, reward=1.0))


def spellings(secret: bytes) -> list[bytes]:
    """A secret as it is, in hexadecimal digits and in base64."""
    text = base64.b64encode(secret).rstrip(b"=")
    return [secret, secret.hex().encode(), secret.hex().upper().encode(), text, base64.urlsafe_b64encode(secret)[:43]]


def of(live: Live, kind: type[Kind]) -> list[Kind]:
    return [event for event in live.events() if isinstance(event, kind)]
