"""The paper's small examples: defiers, rich and poor, corrective compliance, and a homogeneous population."""

from collections.abc import Sequence

from adhere.checks import check_reward, check_unit_number
from adhere.errors import InputError
from adhere.populations.compliance_types import ALWAYS_TAKER, COMPLIER, ComplianceType, ComplianceTypes

ARMS = ("control", "treatment")


def defiers() -> ComplianceTypes:
    """Return a population that always does the opposite, in which the treatment always helps (Example 1).

    The protocol Actual has the largest possible loss here.

    >>> defiers().mean_given_chosen().tolist()
    [1.0, 0.0]
    """
    return ComplianceTypes("defiers", ARMS, [ComplianceType("defier", 1.0, reward=(0, 1))])


def rich_and_poor() -> ComplianceTypes:
    """Return a population with a harmful treatment that the healthy rich take anyway (Example 2, numbers of section
    5).

    The treatment lowers everybody's reward by 0.25. Actual prefers it nevertheless, because most patients who take it
    are rich, and Comply sees 0.5 on both arms. No data show that the rich would do well without treatment, since they
    always take it.

    >>> rich_and_poor().mean_given_chosen().tolist()
    [0.625, 0.5]
    """
    rich = ComplianceType("rich", 0.5, ALWAYS_TAKER, (1.0, 0.75))
    poor = ComplianceType("poor", 0.5, COMPLIER, (0.5, 0.25))
    return ComplianceTypes("rich-and-poor", ARMS, [rich, poor])


def corrective() -> ComplianceTypes:
    """Return a population in which those who gain most take the treatment, and those it harms avoid it (section 2).

    The paper gives no numbers. The numbers here are our own:

    - 30 % always take it, and gain by it (0.4 without, 0.8 with it).
    - 20 % never take it, and would be harmed (0.6 without, 0.2 with it).
    - 50 % comply, and gain a little (0.5 without, 0.6 with it).

    Chosen sees only the compliers' gain, diluted to a difference of 0.05 between the arms. Comply sees a difference
    of 0.146, and Actual one of 0.165 under uniform allocation. Both prefer the treatment whatever the allocation, so
    learning from what was taken is faster here, and safe.

    >>> corrective().mean_given_chosen().round(3).tolist()
    [0.61, 0.66]
    """
    return ComplianceTypes(
        "corrective",
        ARMS,
        [
            ComplianceType("always-taker", 0.3, reward=(0.4, 0.8)),
            ComplianceType("never-taker", 0.2, reward=(0.6, 0.2)),
            ComplianceType("complier", 0.5, reward=(0.5, 0.6)),
        ],
    )


def homogeneous(compliance: float = 0.7, rewards: Sequence[float] = (0.5, 0.6)) -> ComplianceTypes:
    """Return a population in which everybody responds alike and complies with the same probability (section 2).

    Following one recommendation is independent of following the other. The four behaviours therefore have
    probabilities p², (1−p)² and twice p(1−p). The paper's "p < 0.5" should refer to non-compliance.

    >>> homogeneous().mean_given_actual().round(3).tolist()
    [0.5, 0.6]
    """
    p = check_unit_number("compliance", compliance)
    if len(rewards) != 2:
        raise InputError("rewards", rewards, "two mean rewards, one per arm")
    control, treatment = (check_reward(f"rewards of {arm}", mean) for arm, mean in zip(ARMS, rewards, strict=True))
    probabilities = {
        "complier": p * p,
        "defier": (1 - p) ** 2,
        "never-taker": p * (1 - p),
        "always-taker": p * (1 - p),
    }
    types = [
        ComplianceType(name, probability, reward=(control, treatment)) for name, probability in probabilities.items()
    ]
    return ComplianceTypes("homogeneous", ARMS, types)
