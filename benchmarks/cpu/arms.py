"""How the cost of a decision grows from 4 to 100 arms, for every learner: python -m benchmarks.cpu.arms."""

from __future__ import annotations

from benchmarks.cpu.growth import trial_of
from benchmarks.cpu.measuring import Narrator, alternate, growth_exponent
from benchmarks.cpu.ours import subject

from adhere.populations import ComplianceType, ComplianceTypes, Population

LEARNERS = ("uniform", "epsilon-greedy", "ucb1", "thompson", "exp3")
SIZES = (4, 8, 16, 32, 64, 100)
N_ROUNDS, SECONDS, MOST = 5, 0.5, 1.1


def as_told(n_arms: int) -> ComplianceTypes:
    """Everyone takes what they are told."""
    return ComplianceTypes("as told", _names(n_arms), [_told(n_arms, 1.0)])


def anything(n_arms: int) -> ComplianceTypes:
    """One in five takes the same arm whatever they are told: each of k arms has 2k cells."""
    others = [
        ComplianceType(f"arm {arm} anyway", 0.2 / n_arms, (arm,) * n_arms, _means(n_arms)) for arm in range(n_arms)
    ]
    return ComplianceTypes("anything", _names(n_arms), [_told(n_arms, 0.8), *others])


def _told(n_arms: int, probability: float) -> ComplianceType:
    return ComplianceType("as told", probability, tuple(range(n_arms)), _means(n_arms))


def _means(n_arms: int) -> tuple[float, ...]:
    return tuple(0.5 + 0.25 * arm / n_arms for arm in range(n_arms))


def _names(n_arms: int) -> tuple[str, ...]:
    return tuple(f"arm {arm}" for arm in range(n_arms))


def main() -> None:
    """Print the exponent of each learner on each kind of population."""
    narrator = Narrator()
    for kind in (trial_of, as_told, anything):
        populations: dict[int, Population] = {size: kind(size) for size in SIZES}
        narrator.heading(f"{kind.__name__}: ns a decision with {', '.join(map(str, SIZES))} arms, and the exponent")
        subjects = [
            subject(learner, population, SECONDS, maker=str(size))
            for learner in LEARNERS
            for size, population in populations.items()
        ]
        rounds = alternate(subjects, N_ROUNDS, narrator)
        for learner in LEARNERS:
            least = [min(rounds.ns[str(size), learner]) for size in SIZES]
            exponent = growth_exponent(SIZES, least)
            figures = "  ".join(f"{ns:.0f}" for ns in least)
            narrator.note(f"{learner}: {figures}; {exponent:.2f} ({'met' if exponent <= MOST else 'NOT met'})")


if __name__ == "__main__":
    main()
