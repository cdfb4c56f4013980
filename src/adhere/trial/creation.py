"""The creation of a trial: its first record, and the secret of its kits."""

from __future__ import annotations

import secrets
from datetime import datetime

from adhere.errors import InputError
from adhere.randomness import check_seed
from adhere.store import Fetched, Head, WriteTransaction
from adhere.trial.design import Design
from adhere.trial.events import LOG_FORMAT, Created
from adhere.trial.kits import Kits, kit_secret_digest, new_kit_secret
from adhere.trial.log.chain import START
from adhere.trial.snapshot import encode_snapshot
from adhere.trial.state import initial_state
from adhere.trial.transaction import LiveTrial, TrialTransaction
from adhere.trial.verbs.context import Change
from adhere.trial.verbs.recommend import SOFTWARE


def seed_or_drawn(seed: int | None) -> int:
    """The seed that was given, or one that cannot be guessed."""
    return secrets.randbits(63) if seed is None else check_seed(seed)


def create_trial(
    writing: WriteTransaction, design: Design, seed: int, at: datetime, by: str, kit_secret: bytes | None = None
) -> TrialTransaction:
    """Add a trial with the first record of its log, to which more may be appended in the same transaction."""
    if kit_secret is not None and not design.blinded:
        raise InputError("kit_secret", "one", "none: the trial is not blinded")
    secret = new_kit_secret() if design.blinded and kit_secret is None else kit_secret
    kits = Kits(design.name, secret)
    engine = design.engine(seed)
    head = Head(0, START, encode_snapshot(initial_state(design, engine)))
    live = LiveTrial(writing.add_trial(design.name, head), design, engine, kits, tail={})
    if secret is not None:
        writing.save_kit_secret(live.number, secret)
    transaction = TrialTransaction(writing, live, head, Fetched({}, {}, {}))
    version = engine.algorithm_version
    created = Created(
        position=1,
        at=at,
        by=by,
        log_format=LOG_FORMAT,
        seed=seed,
        design=design,
        design_digest=design.digest,
        algorithm_version=version,
        software=SOFTWARE,
        kit_secret_digest=kit_secret_digest(secret) if secret is not None else "",
    )
    transaction.append(Change(created))
    return transaction
