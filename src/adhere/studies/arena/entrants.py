"""The policies that play: every comparable policy of the package, with its name in the tables."""

from typing import Final, NamedTuple

from adhere.errors import InputError
from adhere.policies import Policy, as_policy

REFERENCE: Final = "thompson"
_LEARNERS: Final = {"thompson": "Thompson", "ucb1": "UCB1", "epsilon-greedy": "ε-greedy", "exp3": "EXP3"}
_PROTOCOLS: Final = ("chosen", "actual", "comply")
_BOUNDED = "thompson-bounded(hierarchical(epsilon-greedy)"
_OTHERS: Final = {
    "hierarchical(epsilon-greedy)": "HierarchicalBandit on ε-greedy",
    "hierarchical(epsilon-greedy, recycle=true)": "HierarchicalBandit on ε-greedy, recycling",
    "hierarchical(thompson)": "HierarchicalBandit on Thompson",
    f"{_BOUNDED})": "ThompsonBounded on ε-greedy",
    f"{_BOUNDED}, recycle=true)": "ThompsonBounded on ε-greedy, recycling",
    "hierarchical-exp3": "HierarchicalEXP3",
    "thompson-bounded(thompson/actual)": "ThompsonBounded on Thompson, Actual",
    "mediated-thompson": "MediatedThompson",
    "mediated-thompson(odds=1)": "MediatedThompson, odds 1",
    "mediated-thompson(odds=0.1)": "MediatedThompson, odds 0.1",
    "mediated-thompson(fading_odds=10)": "MediatedThompson, fading odds 10",
    "mediated-thompson(odds=0.01)": "MediatedThompson, odds 0.01",
    "mediated-thompson(odds=inf)": "Stirn & Jebara 2018 (odds ∞)",
    "thompson-bounded(mediated-thompson)": "ThompsonBounded on MediatedThompson",
    "floor(mediated-thompson)": "MediatedThompson, floor 10%",
    "floor(mediated-thompson(odds=inf))": "Stirn & Jebara 2018, floor 10%",
    "floor(thompson)": "Thompson, Chosen, floor 10%",
    "burn-in(mediated-thompson)": "MediatedThompson, burn-in 60",
    "hac-ucb": "HAC-UCB (Bilodeau et al. 2022)",
    "gittins": "Gittins, Chosen",
    "gittins/actual": "Gittins, Actual",
    "gittins/comply": "Gittins, Comply",
    "bayes-optimal": "BayesOptimal, Chosen",
    "bayes-optimal/actual": "BayesOptimal, Actual",
    "bayes-optimal/comply": "BayesOptimal, Comply",
    "bayes-optimal-aware": "BayesOptimal of both arms",
    "uniform": "Randomisation",
}
# More points on the frontier. Elsewhere they would only cost time.
_ON_THE_FRONTIER: Final = {
    "mediated-thompson(odds=10)": "MediatedThompson, odds 10",
    "mediated-thompson(odds=0.001)": "MediatedThompson, odds 0.001",
    "mediated-thompson(fading_odds=1)": "MediatedThompson, fading odds 1",
    "mediated-thompson(fading_odds=200)": "MediatedThompson, fading odds 200",
}


class Entrant(NamedTuple):
    """A policy, its label in the tables, whether a user entered it, and whether it plays only for the frontier."""

    policy: Policy
    label: str
    is_own: bool = False
    for_frontier: bool = False

    @property
    def text(self) -> str:
        """The policy's text form."""
        return str(self.policy)


def _texts() -> dict[str, str]:
    """Return the text and the label of every policy."""
    learners = {
        name if protocol == "chosen" else f"{name}/{protocol}": f"{label}, {protocol.capitalize()}"
        for name, label in _LEARNERS.items()
        for protocol in _PROTOCOLS
    }
    return learners | _OTHERS


def entrants(own: object = (), only_own: bool = False) -> tuple[Entrant, ...]:
    """Return all entrants: the reference (Thompson under Chosen), adhere's other policies, and a user's own policies.

    >>> [one.label for one in entrants(["thompson/actual"], only_own=True)]
    ['Thompson, Chosen', 'thompson/actual']
    """
    listed = {REFERENCE: _texts()[REFERENCE]} if only_own else _texts()
    found = {as_policy(text): Entrant(as_policy(text), label) for text, label in listed.items()}
    for text, label in {}.items() if only_own else _ON_THE_FRONTIER.items():
        found[as_policy(text)] = Entrant(as_policy(text), label, for_frontier=True)
    for given in [own] if isinstance(own, (str, Policy)) else list(own):  # type: ignore[call-overload]
        policy = as_policy(given)
        if policy in found and found[policy].is_own:
            raise InputError("policies", str(policy), "each once", f"policies: {str(policy)!r} is listed twice")
        found[policy] = Entrant(policy, found[policy].label if policy in found else str(policy), is_own=True)
    return tuple(found.values())
