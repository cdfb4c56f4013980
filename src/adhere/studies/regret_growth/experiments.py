"""The populations, policies and simulations of the study of regret growth.

Regret grows with T, but its spread over runs does not shrink, so that a short trial needs many runs and a long one is
content with few. Each T is run anew, for EXP3's γ follows from it.
"""

from __future__ import annotations

from adhere.populations import ComplianceType, ComplianceTypes
from adhere.populations.examples import defiers
from adhere.studies.framework.study import Experiment
from adhere.studies.regret_growth.slopes import LOGARITHMIC, ROOT

N_PATIENTS = tuple(round(10 ** (half / 2)) for half in range(4, 13))


def confounded(name: str, always: float, complier: tuple[float, float]) -> ComplianceTypes:
    """Half always take the treatment and do well; the other half comply and are harmed by it.

    Actual and Comply both prefer the treatment, however often it is chosen: what a hybrid listens to misleads it.
    """
    types = [
        ComplianceType("always-taker", 0.5, reward=(None, always)),
        ComplianceType("complier", 0.5, reward=complier),
    ]
    return ComplianceTypes(name, ("control", "treatment"), types)


CONFOUNDED = confounded("confounded", 0.95, (0.45, 0.05))
FAINT = confounded("faintly confounded", 0.75, (0.5, 0.3))  # the same with half the gap between the arms
DEFIERS = defiers()
POPULATIONS = (CONFOUNDED, DEFIERS, FAINT)

ROOT_HYBRID, THOMPSON_HYBRID, ANNEALED_HYBRID = (
    f"hierarchical({base})" for base in ("exp3", "thompson", "epsilon-greedy")
)
PROVEN, HEADLINE = (f"thompson-bounded({ANNEALED_HYBRID}{option})" for option in ("", ", recycle=true"))
BOUNDED = (PROVEN, HEADLINE)  # Theorem 2's proof holds for the first; the second is what the stroke study reports
RECYCLING = "hierarchical(thompson, recycle=true)"
NAIVE = "thompson/actual"
SUBLINEAR = "o(T)"  # no regret, at no stated rate
# What the paper promises of each policy; Proposition 1 for those under Chosen.
PROMISES = {
    "thompson": LOGARITHMIC,
    **dict.fromkeys(BOUNDED, LOGARITHMIC),
    "exp3": ROOT,
    ROOT_HYBRID: ROOT,
    THOMPSON_HYBRID: SUBLINEAR,
    "epsilon-greedy": "",
    ANNEALED_HYBRID: "",
    NAIVE: "",
}
NAMES = {
    "thompson": "Thompson",
    PROVEN: "ThompsonBounded on ε-greedy",
    HEADLINE: "ThompsonBounded on ε-greedy, recycling",
    "exp3": "EXP3",
    ROOT_HYBRID: "HierarchicalBandit on EXP3",
    THOMPSON_HYBRID: "HierarchicalBandit on Thompson",
    "epsilon-greedy": "ε-greedy",
    ANNEALED_HYBRID: "HierarchicalBandit on ε-greedy",
    NAIVE: "Thompson under Actual",
}
SLOW = tuple(policy for policy, promise in PROMISES.items() if promise == LOGARITHMIC)
FAST = tuple(policy for policy in PROMISES if policy not in SLOW)

# For each of N_PATIENTS, how many runs give exponents within ±0.05; near multiples of what a thread takes at a time.
_SLOW_RUNS = (2048, 2048, 2048, 662, 832, 231, 96, 64, 32)
_FAST_RUNS = (512, 512, 512, 166, 104, 33, 16, 8, 8)
STUCK_RUNS = {(THOMPSON_HYBRID, 10_000): 832, (RECYCLING, 10_000): 832, (THOMPSON_HYBRID, 100_000): 192}


# A simulation for each number of patients, of the policies that need many runs and of those that need few.
_SIZES = {"slow": (SLOW, [CONFOUNDED], _SLOW_RUNS), "fast": (FAST, [CONFOUNDED, DEFIERS], _FAST_RUNS)}
EXPERIMENTS = {
    f"{name}-{t}": Experiment(policies, populations, t, n_runs, grid=[t])
    for name, (policies, populations, all_runs) in _SIZES.items()
    for t, n_runs in zip(N_PATIENTS, all_runs, strict=True)
} | {
    f"stuck-{policy}-{t}": Experiment([policy], [FAINT], t, n_runs, grid=[t])
    for (policy, t), n_runs in STUCK_RUNS.items()
}
