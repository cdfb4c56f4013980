"""Create trials and begin new epochs. Each epoch begins with a fresh secret that draws the arms.

If records may have been lost, a new epoch begins, because some people saw the arms of the lost records. The old
secret would draw the same arms again, and those people could predict them.
"""

from datetime import datetime

from msgspec.structs import replace

from adhere.design.design import Design
from adhere.errors import InputError
from adhere.randomness import check_seed
from adhere.store import Fetched, Head, Store, WriteTransaction
from adhere.trial.domain.events import LOG_FORMAT, SOFTWARE, Created, EpochBegun, created_event, encode, to_record
from adhere.trial.domain.log_records import START, link
from adhere.trial.domain.state import initial_state
from adhere.trial.policy.engine import Engine, engine_of
from adhere.trial.secret.trial_secret import check_secret, commitment_to, new_secret
from adhere.trial.verbs.context import Change
from adhere.trial.writing.snapshot import encode_snapshot, summary_of
from adhere.trial.writing.transaction import LiveTrial, TrialTransaction

_RESTORED = "the store was copied or restored: records after the copy may have been lost"


def begin_epochs_after_restore(store: Store, at: datetime) -> None:
    """Begin new epochs if the store is not as its last writer left it. Otherwise do nothing."""
    if store.was_restored:
        begin_epochs(store, at, _RESTORED)


def begin_epochs(
    store: Store, at: datetime, reason: str, n_lost: int | None = None, by: str = "", *, always: bool = False
) -> int:
    """Take possession of a store and begin a new epoch in every open trial. Return the number of these trials.

    If another process has already taken possession, do nothing unless `always` is true.
    """
    with store.writing() as writing:
        writing.wait_turn()
        if not writing.take_possession() and not always:
            return 0
        open_trials = [
            number
            for number in writing.trials().values()
            if created_event(writing, number).is_live and summary_of(writing, number).status != "closed"
        ]
        for number in open_trials:
            begin_epoch(writing, number, at, reason, n_lost, by)
    return len(open_trials)


def begin_epoch(
    writing: WriteTransaction, trial: int, at: datetime, reason: str, n_lost: int | None = None, by: str = ""
) -> None:
    """Append a new epoch to a trial's log. The policy is not needed, because caches are derived later."""
    secret, head = new_secret(), writing.lock_and_fetch(trial, [], [], [])()[0]
    commitment = commitment_to(secret)
    writing.save_secret(trial, commitment, secret)
    event = EpochBegun(position=head.position + 1, at=at, by=by, commitment=commitment, reason=reason, n_lost=n_lost)
    body = encode(event)
    digest = link(head.hash, body)
    writing.append(trial, [to_record(event, body, digest)], Head(event.position, digest, b""))


WHY_NO_SEED = (
    "a live trial draws its own secret: anyone who knows or guesses a seed can predict every arm. Seeds are for "
    "simulations, trials in memory and rehearsals"
)


def check_seed_of(design: Design, seed: object, field: str = "seed") -> int | None:
    """Return the seed of a rehearsal. Raise an error for a seed in any other live trial."""
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
    """Add a trial with the first record of its log. More events may be appended in the same transaction.

    The trial's secret is drawn here, unless a test passes a secret. A rehearsal may have a seed instead. A trial in
    memory passes its compiled policy, with keys derived from its seed.
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
