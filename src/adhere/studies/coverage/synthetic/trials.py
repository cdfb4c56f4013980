"""The ten trials of the statistician's bar, most in two sizes or with a variant, and everything true of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

ARMS = ("control", "new", "other")
_SAME = 1e-9  # means that differ by less are equal


@dataclass(frozen=True)
class Kind:
    """Patients of one stratum who take the same arms and fare alike.

    `takes` is the arm taken by the arm assigned, `success` the probability of an outcome of 1 by the arm taken, and
    `lost` the probability by the arm taken that the outcome is missing.
    """

    share: float
    takes: tuple[int, ...]
    success: tuple[float, ...]
    stratum: str = "all"
    lost: tuple[float, ...] = ()


@dataclass(frozen=True)
class Allocation:
    """Rule that draws arms: fixed probabilities by stratum, or two-arm Thompson sampling.

    Thompson sampling `learns` from the outcomes of all patients ("together"), or of those of the stratum ("by
    stratum"); no probability falls below `floor`.
    """

    fixed: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    learns: str = ""
    floor: float = 0.0


@dataclass(frozen=True)
class Trial:
    """A synthetic trial, with the truth of every estimand that an analysis shows.

    `drift` is the amount by which every probability of success rises, in a line, from the first patient to the last.
    A trial with `logged` probabilities has a column for each arm. `breaks` names the assumptions of some view that
    are false here.
    """

    name: str
    kinds: tuple[Kind, ...]
    allocation: Allocation
    n_patients: int
    drift: float = 0.0
    logged: bool = True
    breaks: frozenset[str] = frozenset()

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms, the control first."""
        return ARMS[: len(self.kinds[0].takes)]

    @property
    def strata(self) -> tuple[str, ...]:
        """Names of the strata."""
        return tuple(dict.fromkeys(kind.stratum for kind in self.kinds))

    @property
    def title(self) -> str:
        """Name and size."""
        return f"{self.name}, {self.n_patients:,} patients"

    def mean_assigned(self, arm: int, stratum: str | None = None) -> float:
        """Mean outcome of everybody, or of one stratum, if assigned an arm."""
        kinds = self._of(stratum)
        total = sum(kind.share for kind in kinds)
        return self.drift / 2 + sum(kind.share * kind.success[kind.takes[arm]] for kind in kinds) / total

    def mean_taken(self, arm: int) -> float:
        """Mean outcome if everybody took an arm."""
        return self.drift / 2 + sum(kind.share * kind.success[arm] for kind in self.kinds)

    def share_taking(self, arm: int, assigned: int) -> float:
        """Share of those assigned one arm who take another; by a fixed allocation, strata differ in how many are."""
        fixed = self.allocation.fixed
        each = [(kind.share * (fixed[kind.stratum][assigned] if fixed else 1.0), kind.takes) for kind in self.kinds]
        total = sum(share for share, _ in each)
        return round(sum(share for share, takes in each if takes[assigned] == arm) / total, 12)

    def share_of(self, takes: tuple[int, ...]) -> float:
        """Share of the patients who respond to assignment in one way."""
        return sum(kind.share for kind in self.kinds if kind.takes == takes)

    def mean_of(self, takes: tuple[int, ...], arm: int) -> float | None:
        """Mean outcome under an arm of the patients who respond in one way; None if there are none."""
        share = self.share_of(takes)
        if not share:
            return None
        found = sum(kind.share * kind.success[arm] for kind in self.kinds if kind.takes == takes)
        return self.drift / 2 + found / share

    def complier_mean(self, treatment: int, control: int, arm: int) -> float | None:
        """Mean outcome under an arm of those who take the treatment if and only if assigned to it, not to control."""
        who = [kind for kind in self.kinds if kind.takes[treatment] == treatment and kind.takes[control] == control]
        share = sum(kind.share for kind in who)
        return self.drift / 2 + sum(kind.share * kind.success[arm] for kind in who) / share if share else None

    def mean_given(self, assigned: int, taken: int) -> float | None:
        """Mean outcome of those who take one arm when assigned another; None if nobody does."""
        who = [kind for kind in self.kinds if kind.takes[assigned] == taken]
        share = sum(kind.share for kind in who)
        return self.drift / 2 + sum(kind.share * kind.success[taken] for kind in who) / share if share else None

    def spread_given(self, taken: int) -> float:
        """Largest difference by the arm assigned in the mean outcome of those who take an arm."""
        means = [self.mean_given(assigned, taken) for assigned in range(len(self.arms))]
        known = [mean for mean in means if mean is not None]
        return max(known) - min(known) if known else 0.0

    @property
    def is_mediated(self) -> bool:
        """Whether, given the arm taken, the mean outcome does not depend on the arm assigned."""
        return all(self.spread_given(arm) < _SAME for arm in range(len(self.arms)))

    @property
    def has_missing(self) -> bool:
        """Whether some outcomes are missing."""
        return any(any(kind.lost) for kind in self.kinds)

    @property
    def complies(self) -> bool:
        """Whether everybody takes the arm assigned."""
        return all(kind.takes == tuple(range(len(self.arms))) for kind in self.kinds)

    @property
    def has_defiers(self) -> bool:
        """Whether some take an arm if assigned another one, and not if assigned to it."""
        return any(taken != kind.takes[taken] for kind in self.kinds for taken in kind.takes)

    def differs_by_stratum(self, treatment: int, control: int) -> bool:
        """Whether the effect of assigning the treatment is not the same in all strata."""
        effects = [self.mean_assigned(treatment, one) - self.mean_assigned(control, one) for one in self.strata]
        return max(effects) - min(effects) > _SAME

    @property
    def allocates_by_stratum(self) -> bool:
        """Whether the probabilities of arms depend on the stratum."""
        return self.allocation.learns == "by stratum" or len(set(self.allocation.fixed.values())) > 1

    def _of(self, stratum: str | None) -> list[Kind]:
        return [kind for kind in self.kinds if stratum in (None, kind.stratum)]


COMPLIER, NEVER, ALWAYS, DEFIER = (0, 1), (0, 0), (1, 1), (1, 0)
NO_DEFIERS = "no defiers"
AT_RANDOM = "missing at random given assigned, taken and stratum"
GIVEN_ARM = "missing at random given assigned"
_EVEN = Allocation({"all": (0.5, 0.5)})
_EVEN_STRATA = Allocation({"low": (0.5, 0.5), "high": (0.5, 0.5)})

_ONE_SIDED = Trial(
    "one-sided non-compliance, strata of different baselines",
    (
        Kind(0.35, COMPLIER, (0.20, 0.30), "low"),
        Kind(0.15, NEVER, (0.10, 0.20), "low"),
        Kind(0.35, COMPLIER, (0.60, 0.70), "high"),
        Kind(0.15, NEVER, (0.50, 0.60), "high"),
    ),
    _EVEN_STRATA,
    1000,
    logged=False,
)
_BY_STRATUM = Trial(
    "fixed allocation that differs by stratum",
    (
        Kind(0.40, COMPLIER, (0.20, 0.45), "low"),
        Kind(0.20, NEVER, (0.10, 0.20), "low"),
        Kind(0.30, COMPLIER, (0.60, 0.55), "high"),
        Kind(0.10, NEVER, (0.50, 0.60), "high"),
    ),
    Allocation({"low": (0.5, 0.5), "high": (0.2, 0.8)}),
    1000,
)
_ADAPTIVE_BY_STRATUM = Trial(
    "Thompson by stratum, effects that cancel",
    (
        Kind(0.40, COMPLIER, (0.30, 0.55), "low"),
        Kind(0.10, NEVER, (0.30, 0.30), "low"),
        Kind(0.40, COMPLIER, (0.70, 0.45), "high"),
        Kind(0.10, NEVER, (0.60, 0.60), "high"),
    ),
    Allocation(learns="by stratum"),
    1000,
)
_ONE_STRATUM = Trial(
    "Thompson by stratum, an effect in one of two",
    (
        Kind(0.40, COMPLIER, (0.30, 0.60), "low"),
        Kind(0.10, NEVER, (0.30, 0.30), "low"),
        Kind(0.40, COMPLIER, (0.60, 0.60), "high"),
        Kind(0.10, NEVER, (0.60, 0.60), "high"),
    ),
    Allocation(learns="by stratum"),
    2000,
)
_ADAPTIVE = Trial(
    "Thompson, all patients together",
    (
        Kind(0.60, COMPLIER, (0.30, 0.45)),
        Kind(0.20, NEVER, (0.20, 0.30)),
        Kind(0.20, ALWAYS, (0.50, 0.60)),
    ),
    Allocation(learns="together"),
    1000,
)
_LOST_BY_TAKEN = Trial(
    "outcomes missing by what was taken",
    (
        Kind(0.60, COMPLIER, (0.30, 0.50), lost=(0.40, 0.05)),
        Kind(0.25, NEVER, (0.55, 0.60), lost=(0.40, 0.05)),
        Kind(0.15, ALWAYS, (0.30, 0.40), lost=(0.40, 0.05)),
    ),
    _EVEN,
    1000,
    breaks=frozenset({GIVEN_ARM}),
)
_LOST_BY_TYPE = Trial(
    "outcomes missing by latent type",
    (
        Kind(0.60, COMPLIER, (0.30, 0.50), lost=(0.05, 0.05)),
        Kind(0.40, NEVER, (0.60, 0.65), lost=(0.50, 0.50)),
    ),
    _EVEN,
    1000,
    breaks=frozenset({GIVEN_ARM, AT_RANDOM}),
)
_WEAK = Trial(
    "weak compliance: 3% compliers",
    (
        Kind(0.03, COMPLIER, (0.40, 0.60)),
        Kind(0.60, NEVER, (0.30, 0.40)),
        Kind(0.37, ALWAYS, (0.50, 0.60)),
    ),
    _EVEN,
    1000,
)
_DEFIERS = Trial(
    "10% defiers",
    (
        Kind(0.60, COMPLIER, (0.40, 0.60)),
        Kind(0.15, NEVER, (0.30, 0.40)),
        Kind(0.15, ALWAYS, (0.50, 0.60)),
        Kind(0.10, DEFIER, (0.30, 0.90)),
    ),
    _EVEN,
    1000,
    breaks=frozenset({NO_DEFIERS}),
)
_THREE_ARMS = Trial(
    "three arms, two-sided non-compliance",
    (
        Kind(0.50, (0, 1, 2), (0.30, 0.45, 0.50)),
        Kind(0.15, (0, 0, 0), (0.20, 0.30, 0.30)),
        Kind(0.15, (0, 1, 1), (0.40, 0.50, 0.60)),
        Kind(0.10, (2, 2, 2), (0.50, 0.60, 0.60)),
        Kind(0.10, (0, 1, 0), (0.30, 0.40, 0.40)),
    ),
    Allocation({"all": (1 / 3, 1 / 3, 1 / 3)}),
    900,
)
_DRIFT = Trial(
    "drift of the baseline, Thompson",
    (
        Kind(0.50, COMPLIER, (0.25, 0.30)),
        Kind(0.25, NEVER, (0.25, 0.30)),
        Kind(0.25, ALWAYS, (0.25, 0.30)),
    ),
    Allocation(learns="together"),
    1000,
    drift=0.5,
)
_SMALL = 120

TRIALS = (
    _ONE_SIDED,
    replace(_ONE_SIDED, n_patients=_SMALL),
    _BY_STRATUM,
    replace(_BY_STRATUM, n_patients=_SMALL),
    replace(_BY_STRATUM, name=f"{_BY_STRATUM.name}, probabilities not logged", n_patients=300, logged=False),
    _ADAPTIVE_BY_STRATUM,
    replace(_ADAPTIVE_BY_STRATUM, n_patients=_SMALL),
    _ONE_STRATUM,
    _ADAPTIVE,
    replace(_ADAPTIVE, n_patients=_SMALL),
    _LOST_BY_TAKEN,
    replace(_LOST_BY_TAKEN, n_patients=_SMALL),
    _LOST_BY_TYPE,
    _WEAK,
    replace(_WEAK, n_patients=_SMALL),
    _DEFIERS,
    _THREE_ARMS,
    replace(_THREE_ARMS, n_patients=_SMALL),
    _DRIFT,
    replace(_DRIFT, n_patients=300),
)
