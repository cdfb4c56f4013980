"""The truth about two arms, and what each protocol comes to believe, exactly."""

from collections.abc import Sequence
from typing import Final, Literal

from adhere.exploration.presets import Group
from adhere.protocols import NONE, as_protocol
from adhere_client.responses.simulations import ExploredBelief, ExploredTruth, Pair

PROTOCOLS: Final = {"chosen": "intention-to-treat", "actual": "as-treated", "comply": "per-protocol"}
TINY: Final = 0.0005  # a smaller difference is 0 in three decimals, and is called none
_TABLES: Final = {protocol: as_protocol(protocol).credits(2).tolist() for protocol in PROTOCOLS}
_SHARES: Final = [percent / 100 for percent in range(1, 100)]  # of the recommendations that are of the treatment

Verdict = Literal["right", "fooled", "undecided", "depends", "uninformed"]


class Truth(ExploredTruth, frozen=True):
    """The mean reward of each arm, with the effect of recommending the treatment."""

    @property
    def effect(self) -> float:
        """What recommending the treatment gains over recommending the control, per patient."""
        return self.mean_given_chosen[1] - self.mean_given_chosen[0]


class Belief(ExploredBelief, frozen=True):
    """A protocol's belief, before it has a sentence.

    `verdict` compares the arm it prefers with the one that is better to recommend: right; fooled (it prefers the
    other, or prefers one where both are as good); undecided (it sees no difference where there is one); depends (on
    how often each arm is recommended); uninformed (it credits nobody to an arm).
    """

    sentence: str = ""

    @property
    def difference(self) -> float | None:
        """How much better it thinks the treatment is; None if it knows nothing of an arm."""
        control, treatment = self.means
        return None if control is None or treatment is None else treatment - control


def truth_of(groups: Sequence[Group]) -> Truth:
    """What is true of a population."""
    told = [sum(one.share * one.rewards[one.takes[arm]] for one in groups) for arm in (0, 1)]
    taken = [sum(one.share * one.rewards[arm] for one in groups) for arm in (0, 1)]
    return Truth((told[0], told[1]), (taken[0], taken[1]))


def credited(groups: Sequence[Group], protocol: str, told_treatment: float = 0.5) -> Pair:
    """The mean reward credited to each arm, if so large a share of the patients is told to take the treatment."""
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
    """1 or -1, or 0 if it is none to speak of."""
    return 0 if abs(difference) < TINY else (1 if difference > 0 else -1)


def belief_of(groups: Sequence[Group], protocol: str) -> Belief:
    """What a protocol believes of a population."""
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
    """Of the shares of recommendations that may be of the treatment, those with which a protocol is not right."""
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
