"""The creation of a trial: its first record, and the secret by which its arms are drawn."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from adhere.design.design import Design
from adhere.errors import InputError
from adhere.randomness import check_seed
from adhere.store import Fetched, Head, WriteTransaction
from adhere.trial.domain.chain import START
from adhere.trial.domain.events import LOG_FORMAT, SOFTWARE, Created
from adhere.trial.domain.state import initial_state
from adhere.trial.policy.engine import Engine, engine_of
from adhere.trial.secret.trial_secret import check_secret, commitment_to, new_secret
from adhere.trial.verbs.context import Change
from adhere.trial.writing.snapshot import encode_snapshot
from adhere.trial.writing.transaction import LiveTrial, TrialTransaction

WHY_NO_SEED = (
    "a live trial draws a secret of its own: whoever knows or guesses its seed can predict every arm. Seeds are for "
    "simulations, trials in memory and rehearsals"
)


def check_seed_of(design: Design, seed: object, field: str = "seed") -> int | None:
    """Return the seed of a rehearsal; refuse one for any other live trial, with the reason."""
    if seed is None:
        return None
    if not design.rehearsal:
        raise InputError(field, seed, "none", f"{field}: got {seed}, expected none: {WHY_NO_SEED}")
    return check_seed(seed)


def create_trial(
    writing: WriteTransaction,
    design: Design,
    at: datetime,
    by: str,
    *,
    seed: int | None = None,
    secret: bytes | None = None,
    engine: Engine | None = None,
) -> TrialTransaction:
    """Add a trial with the first record of its log, to which more may be appended in the same transaction.

    Its secret is drawn here, unless a test gives one; a rehearsal may have a seed instead. A trial in memory gives
    its compiled policy, with keys that follow from its seed.
    """
    commitment = ""
    if engine is None and check_seed_of(design, seed) is None:
        own = new_secret() if secret is None else check_secret(secret)
        commitment = commitment_to(own)
    created = Created(
        position=1,
        at=at,
        by=by,
        log_format=LOG_FORMAT,
        commitment=commitment,
        seed=seed,
        design=design,
        design_digest=design.digest,
        algorithm_version="",
        software=SOFTWARE,
    )
    engine = engine or engine_of(design, created.keys(writing.secret))
    head = Head(0, START, encode_snapshot(initial_state(design, engine)))
    number = writing.add_trial(design.name, head)
    if commitment:
        writing.save_secret(number, commitment, own)
    kits = engine.keys.kits(design.name, blinded=design.blinded)
    live = LiveTrial(number, design, engine, kits, tail={})
    transaction = TrialTransaction(writing, live, head, Fetched({}, {}, {}))
    transaction.append(Change(replace(created, algorithm_version=engine.algorithm_version)))
    return transaction
