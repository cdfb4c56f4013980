"""The one table of policies: the contract, the comparison with the oracle, the GPU and the goldens run over it.

A registered policy that is in no table below is added by itself: without parameters, or as its twin in the oracle
says in `under_test = ("name", "name(parameter=2)")`.

A *subject* is one composition, which costs seconds to compile for each number of arms; its variants (protocols,
parameters) cost nothing. Hybrids are chosen so that each part meets each other part at least once. The quick tests
compile every subject but some hybrids, for two arms; the slow ones all, and for three arms too.
"""

from __future__ import annotations

from adhere.policies import Learner, parse_policy, registry
from adhere.policies.base.policy import AnyLearner

ARM_COUNTS = (2, 3)  # code for more is that for three; `simulation/test_many_arms` has many

LEARNERS: dict[str, tuple[str, ...]] = {
    "uniform": ("uniform",),
    "thompson": ("thompson", "base-thompson"),  # which on its own is thompson
    "ucb1": ("ucb1",),
    "epsilon-greedy": ("epsilon-greedy", "epsilon-greedy(epsilon=0.2)"),
    "exp3": ("exp3", "exp3(gamma=0.2)"),
    "bayes-optimal(horizon=12)": ("bayes-optimal(horizon=12)",),
    "gittins(horizon=16)": ("gittins(horizon=16)",),
    "always(1)": ("always(1)", "always(0)"),
    "kl-ucb": ("kl-ucb", "kl-ucb(c=3)"),
    "top-two-thompson": ("top-two-thompson", "top-two-thompson(beta=0.8)"),
}

COMPLIANCE_AWARE: dict[str, tuple[str, ...]] = {  # which have no protocol
    "hac-ucb": ("hac-ucb(explore=3, delta=0.2)",),
    "bayes-optimal-aware(horizon=12)": (),
    "mediated-thompson": ("mediated-thompson(fading_odds=15)", "mediated-thompson(odds=inf)"),
}

HYBRIDS: dict[str, tuple[str, ...]] = {
    "hierarchical(thompson)": (),
    "hierarchical(thompson, recycle=true)": ("hierarchical(base-thompson, recycle=true)",),
    "hierarchical(epsilon-greedy)": ("hierarchical(epsilon-greedy(epsilon=0.1), top=exp3(gamma=0.085))",),
    "hierarchical(ucb1, recycle=true)": (),
    "hierarchical(exp3)": ("hierarchical(exp3(gamma=0.1), top=exp3(gamma=0.3))",),
    "hierarchical(exp3, recycle=true)": (),
    "hierarchical(uniform, top=thompson)": (),
    "hierarchical(base-thompson, top=ucb1)": ("hierarchical(thompson, top=ucb1)",),
    "hierarchical(ucb1, top=epsilon-greedy)": (),
    "hierarchical(experts=[thompson, ucb1/actual, exp3/comply, thompson/actual])": (),
    "thompson-bounded(hierarchical(epsilon-greedy))": (
        "thompson-bounded(hierarchical(epsilon-greedy), literal=true)",
    ),
    "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)": (
        "thompson-bounded(hierarchical(epsilon-greedy), recycle=true, literal=true)",
    ),
    "thompson-bounded(thompson/actual)": ("thompson-bounded(thompson/comply, literal=true)",),
    "thompson-bounded(thompson/actual, recycle=true)": (),
    "burn-in(floor(exp3), patients=7)": (
        "burn-in(floor(exp3(gamma=0.3)/actual, share=0.15, control=0.3), patients=15, block=30)",
    ),
    "hierarchical-exp3": ("hierarchical-exp3(eta=0.05, rho=0.1)",),
}


def _add_new_policies() -> None:
    """Put every registered policy that is in no table into one: as it is, or as its oracle says."""
    tables = LEARNERS | COMPLIANCE_AWARE | HYBRIDS
    texts = [text for subject, more in tables.items() for text in (subject, *more)]
    listed = {part.name for text in texts for part in parse_policy(text).parts()}
    for name, cls in registry.items():
        if cls.__module__.startswith("adhere.") and name not in listed:
            import oracle  # benchmarks use the tables without it

            own = getattr(oracle.class_called(cls.__name__), "under_test", (name,))
            if issubclass(cls, Learner):
                LEARNERS[own[0]] = own
            else:
                (COMPLIANCE_AWARE if issubclass(cls, AnyLearner) else HYBRIDS)[own[0]] = own[1:]


_add_new_policies()
SUBJECTS = (*LEARNERS, *COMPLIANCE_AWARE, *HYBRIDS)

# Hybrids that are compiled for three arms too: every part that depends on their number is in one of them. A top does
# not: its arms are the experts. The engine of the others runs as Python there.
COMPILED_FOR_THREE = (
    "hierarchical(thompson, recycle=true)",
    "hierarchical(experts=[thompson, ucb1/actual, exp3/comply, thompson/actual])",
    "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)",
    "burn-in(floor(exp3), patients=7)",
    "hierarchical-exp3",
)

# Hybrids that the slow tests alone compile; each registered policy is in one of the others.
SLOW = tuple(subject for subject in HYBRIDS if subject not in COMPILED_FOR_THREE or "experts" in subject)

# What has two arms and no more.
TWO_ARMED = ("bayes-optimal(horizon=12)", "bayes-optimal-aware(horizon=12)")

# Deeper compositions, for the comparison with the oracle alone.
NESTED = (
    "hierarchical(exp3, top=epsilon-greedy)",
    "hierarchical(experts=[epsilon-greedy, ucb1/actual, thompson], recycle=true)",
    "thompson-bounded(hierarchical(thompson), literal=true)",
    "thompson-bounded(hierarchical(thompson, recycle=true), recycle=true, literal=true)",
    "thompson-bounded(hierarchical-exp3(eta=0.05, rho=0.05))",
    "thompson-bounded(thompson-bounded(ucb1/comply, recycle=true), recycle=true)",
    "floor(burn-in(exp3/actual, patients=40))",
    "thompson-bounded(mediated-thompson)",
    "hierarchical(experts=[thompson, mediated-thompson])",
)


def credit_table(n_arms: int) -> str:
    """A protocol of a user's own: arm 0 needs no actual arm, arm 1 counts if 1 or the last was taken."""
    rows = [["0"] * n_arms, *(["-"] * n_arms for _ in range(n_arms - 1))]
    rows[1][1] = rows[1][-1] = "1"
    for chosen in range(2, n_arms):
        rows[chosen] = [str(actual) for actual in range(n_arms)]
    return f"credit[{'; '.join(' '.join(row) for row in rows)}]"


def variants(subject: str, n_arms: int) -> list[str]:
    """Every policy under test of one composition: a learner under each protocol, a hybrid with other numbers."""
    if n_arms != 2 and subject in TWO_ARMED:
        return []
    if subject not in LEARNERS:
        return [subject, *(COMPLIANCE_AWARE | HYBRIDS)[subject]]
    protocols = ("chosen", "actual", "comply", credit_table(n_arms))
    return [f"{learner}/{protocol}" for learner in LEARNERS[subject] for protocol in protocols]


def every_policy(n_arms: int) -> list[str]:
    """Every policy under test that can run with this many arms."""
    return [text for subject in SUBJECTS for text in variants(subject, n_arms)]


def is_compiled(subject: str, n_arms: int) -> bool:
    """Whether tests compile a policy for so many arms, which takes seconds."""
    return n_arms == 2 or subject not in HYBRIDS or subject in COMPILED_FOR_THREE


def recycles(subject: str) -> bool:
    """Whether outcomes are kept and drawn again, so that the order of reports matters."""
    return "recycle=true" in subject
