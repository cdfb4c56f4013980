"""How many bytes a trial keeps beside its log: the encoded `Snapshot`, after some hundred rounds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing

from benchmarks.cpu.measuring import Narrator
from tests.contract.policies_under_test import SUBJECTS, variants

from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend, RecommendationResponse, Report
from adhere.trial.writing.processor import CommandProcessor

N_ARMS = 5
_ARMS = [f"arm {arm}" for arm in range(N_ARMS)]


def policies(n_subjects: int | None) -> list[str]:
    """Every policy of the contract's tests in all its variants; of the first so many compositions, or of all."""
    return [policy for subject in SUBJECTS[:n_subjects] for policy in variants(subject, N_ARMS)]


def measure(of: Sequence[str], n_pairs: int, narrator: Narrator) -> dict[str, int]:
    """Bytes by policy; each trial is really run, its patients and outcomes drawn at random."""
    found = {}
    with narrator.steps(len(of)) as step:
        for policy in of:
            step(policy)
            found[policy] = _bytes_after(policy, n_pairs)
    return found


def _bytes_after(policy: str, n_pairs: int) -> int:
    patients = random.Random(1)
    with closing(open_store()) as store:
        processor = CommandProcessor(store)
        processor.create(make_design("trial", policy, _ARMS, n_patients=10_000))
        for pair in range(n_pairs):
            about = {"trial": "trial", "request_id": f"ask-{pair}"}
            (made,) = processor.execute([Recommend(**about, subject=f"patient {pair}")])
            assert isinstance(made, RecommendationResponse)
            taken, reward = patients.choice(_ARMS), float(patients.randrange(2))
            about = {"trial": "trial", "request_id": f"tell-{pair}"}
            number = made.recommendation_id
            processor.execute([Report(**about, recommendation_id=number, actual=taken, reward=reward)])
        with store.reading() as view:
            return len(view.head(view.trials()["trial"]).snapshot)
