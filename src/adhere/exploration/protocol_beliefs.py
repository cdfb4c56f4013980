"""Exact computation of the truth about two arms and of each protocol's belief in the long run."""

from collections.abc import Sequence
from typing import Final, Literal

from adhere.exploration.presets import Group
from adhere.protocols import NONE, as_protocol
from adhere_client.responses.simulations import ExploredBelief, ExploredTruth, Pair

PROTOCOLS: Final = {"chosen": "intention-to-treat", "actual": "as-treated", "comply": "per-protocol"}
TINY: Final = 0.0005  # a smaller difference is 0 in three decimals and counts as none
_TABLES: Final = {protocol: as_protocol(protocol).credits(2).tolist() for protocol in PROTOCOLS}
_SHARES: Final = [percent / 100 for percent in range(1, 100)]  # share of recommendations for the treatment

Verdict = Literal["right", "fooled", "undecided", "depends", "uninformed"]


class Truth(ExploredTruth, frozen=True):
    """Mean reward of each arm, with the effect of recommending the treatment."""

    @property
    def effect(self) -> float:
        """Gain per patient of recommending the treatment instead of the control."""
        return self.mean_given_chosen[1] - self.mean_given_chosen[0]


class Belief(ExploredBelief, frozen=True):
    """Belief of a protocol in the long run. Its sentence is added by `with_sentences`.

    `verdict` compares the arm that the protocol prefers with the arm that is better to recommend:

    - right: it prefers the better arm;
    - fooled: it prefers the other arm, or prefers one although both are equally good;
    - undecided: it sees no difference although there is one;
    - depends: its preference depends on how often each arm is recommended;
    - uninformed: it credits nobody to one of the arms.
    """

    sentence: str = ""

    @property
    def difference(self) -> float | None:
        """Believed advantage of the treatment; None if the protocol knows nothing about an arm."""
        control, treatment = self.means
        return None if control is None or treatment is None else treatment - control


def truth_of(groups: Sequence[Group]) -> Truth:
    """Return the truth about a population."""
    told = [sum(one.share * one.rewards[one.takes[arm]] for one in groups) for arm in (0, 1)]
    taken = [sum(one.share * one.rewards[arm] for one in groups) for arm in (0, 1)]
    return Truth((told[0], told[1]), (taken[0], taken[1]))


def credited(groups: Sequence[Group], protocol: str, told_treatment: float = 0.5) -> Pair:
    """Return the mean reward credited to each arm if the share `told_treatment` of patients is told to take it."""
    table = _TABLES[protocol]
    weights, rewards = [0.0, 0.0], [0.0, 0.0]
    for group in groups:
        for chosen, probability in enumerate((1.0 - told_treatment, told_treatment)):
            actual = group.takes[chosen]
            if (arm := table[chosen][actual]) != NONE:
                weights[arm] += probability * group.share
                rewards[arm] += probability * group.share * group.rewards[actual]
    control, treatment = (
        total / weight if weight > 0 else None for total, weight in zip(rewards, weights, strict=True)
    )
    return control, treatment


def sign_of(difference: float) -> int:
    """Return the sign of a difference, 1 or -1, or 0 if it is negligible."""
    return 0 if abs(difference) < TINY else (1 if difference > 0 else -1)


def belief_of(groups: Sequence[Group], protocol: str) -> Belief:
    """Return the belief of a protocol about a population."""
    means = credited(groups, protocol)
    along = [credited(groups, protocol, share) for share in _SHARES] if protocol == "actual" else [means]
    known = [[mean for pair in along if (mean := pair[arm]) is not None] for arm in (0, 1)]
    return Belief(
        protocol,
        PROTOCOLS[protocol],
        means,
        (min(known[0], default=None), min(known[1], default=None)),
        (max(known[0], default=None), max(known[1], default=None)),
        _verdict(sign_of(truth_of(groups).effect), means, along),
    )


def wrong_shares(groups: Sequence[Group], protocol: str) -> list[float]:
    """Return the shares of patients told to take the treatment at which a protocol's belief is not right."""
    truth = sign_of(truth_of(groups).effect)
    found = []
    for share in _SHARES:
        control, treatment = credited(groups, protocol, share)
        if control is not None and treatment is not None and sign_of(treatment - control) != truth:
            found.append(share)
    return found


def _verdict(truth: int, means: Pair, along: Sequence[Pair]) -> Verdict:
    signs = {sign_of(b - a) for a, b in along if a is not None and b is not None}
    control, treatment = means
    if control is None or treatment is None:
        return "uninformed"
    if truth and {1, -1} <= signs:
        return "depends"
    here = sign_of(treatment - control)
    if here == truth:
        return "right"
    return "undecided" if here == 0 else "fooled"
