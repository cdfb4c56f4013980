"""The ten synthetic trials, most in two sizes or with a variant, and their true values."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files

ARMS = ("control", "new", "other")
_SAME = 1e-9  # means that differ by less are equal


@dataclass(frozen=True)
class Kind:
    """Patients of one stratum who take the same arms and have the same outcomes.

    `takes` is the arm taken by arm assigned, and `success` the probability of outcome 1 by arm taken. `lost` is the
    probability, by arm taken, that the outcome is missing.
    """

    share: float
    takes: tuple[int, ...]
    success: tuple[float, ...]
    stratum: str = "all"
    lost: tuple[float, ...] = ()


@dataclass(frozen=True)
class Allocation:
    """A rule that draws arms: fixed probabilities by stratum, or two-arm Thompson sampling.

    Thompson sampling `learns` from the outcomes of all patients ("together") or of patients in the same stratum ("by
    stratum").
    """

    fixed: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    learns: str = ""


@dataclass(frozen=True)
class Trial:
    """A synthetic trial, with the truth of every estimand that an analysis shows.

    Every probability of success rises linearly by `drift` from the first to the last patient. A trial with `logged`
    probabilities has a column for each arm. `breaks` names the assumptions of some view that are false here.
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
        """The names of the arms, control first."""
        return ARMS[: len(self.kinds[0].takes)]

    @property
    def strata(self) -> tuple[str, ...]:
        """The names of the strata."""
        return tuple(dict.fromkeys(kind.stratum for kind in self.kinds))

    @property
    def title(self) -> str:
        """The trial's name and size."""
        return f"{self.name}, {self.n_patients:,} patients"

    def mean_assigned(self, arm: int, stratum: str | None = None) -> float:
        """Return the mean outcome of everybody, or of one stratum, if assigned an arm."""
        kinds = self._of(stratum)
        total = sum(kind.share for kind in kinds)
        return self.drift / 2 + sum(kind.share * kind.success[kind.takes[arm]] for kind in kinds) / total

    def mean_taken(self, arm: int) -> float:
        """Return the mean outcome if everybody took an arm."""
        return self.drift / 2 + sum(kind.share * kind.success[arm] for kind in self.kinds)

    def share_taking(self, arm: int, assigned: int) -> float:
        """Return the share of patients assigned one arm who take another. Fixed allocations may differ between
        strata.
        """
        fixed = self.allocation.fixed
        each = [(kind.share * (fixed[kind.stratum][assigned] if fixed else 1.0), kind.takes) for kind in self.kinds]
        total = sum(share for share, _ in each)
        return round(sum(share for share, takes in each if takes[assigned] == arm) / total, 12)

    def share_of(self, takes: tuple[int, ...]) -> float:
        """Return the share of the patients with a given response to assignment."""
        return sum(kind.share for kind in self.kinds if kind.takes == takes)

    def mean_of(self, takes: tuple[int, ...], arm: int) -> float | None:
        """Return the mean outcome under an arm of patients with a given response, or None if there are none."""
        return self._mean(arm, [kind for kind in self.kinds if kind.takes == takes])

    def complier_mean(self, treatment: int, control: int, arm: int) -> float | None:
        """Return the mean outcome under an arm of patients who take the treatment if and only if assigned to it."""
        who = [kind for kind in self.kinds if kind.takes[treatment] == treatment and kind.takes[control] == control]
        return self._mean(arm, who)

    def mean_given(self, assigned: int, taken: int) -> float | None:
        """Return the mean outcome of patients who take one arm when assigned another, or None if nobody does."""
        return self._mean(taken, [kind for kind in self.kinds if kind.takes[assigned] == taken])

    def _mean(self, arm: int, who: Sequence[Kind]) -> float | None:
        share = sum(kind.share for kind in who)
        return self.drift / 2 + sum(kind.share * kind.success[arm] for kind in who) / share if share else None

    def spread_given(self, taken: int) -> float:
        """Return how much the mean outcome of patients who take an arm differs at most between the arms assigned."""
        means = [self.mean_given(assigned, taken) for assigned in range(len(self.arms))]
        known = [mean for mean in means if mean is not None]
        return max(known) - min(known) if known else 0.0

    @property
    def is_mediated(self) -> bool:
        """Return whether, given the arm taken, the mean outcome does not depend on the arm assigned."""
        return all(self.spread_given(arm) < _SAME for arm in range(len(self.arms)))

    @property
    def has_missing(self) -> bool:
        """Return whether some outcomes are missing."""
        return any(any(kind.lost) for kind in self.kinds)

    @property
    def complies(self) -> bool:
        """Return whether everybody takes the arm assigned."""
        return all(kind.takes == tuple(range(len(self.arms))) for kind in self.kinds)

    @property
    def has_defiers(self) -> bool:
        """Return whether some patients take an arm if assigned another one, but not if assigned to it."""
        return any(taken != kind.takes[taken] for kind in self.kinds for taken in kind.takes)

    def differs_by_stratum(self, treatment: int, control: int) -> bool:
        """Return whether the effect of assigning the treatment differs between strata."""
        effects = [self.mean_assigned(treatment, one) - self.mean_assigned(control, one) for one in self.strata]
        return max(effects) - min(effects) > _SAME

    @property
    def allocates_by_stratum(self) -> bool:
        """Return whether the probabilities of arms depend on the stratum."""
        return self.allocation.learns == "by stratum" or len(set(self.allocation.fixed.values())) > 1

    def _of(self, stratum: str | None) -> list[Kind]:
        return [kind for kind in self.kinds if stratum in (None, kind.stratum)]


COMPLIER, NEVER, ALWAYS, DEFIER = (0, 1), (0, 0), (1, 1), (1, 0)
NO_DEFIERS = "no defiers"
AT_RANDOM = "missing at random given assigned, taken and stratum"
GIVEN_ARM = "missing at random given assigned"
_TAKES = {"complier": COMPLIER, "never": NEVER, "always": ALWAYS, "defier": DEFIER}


def _read() -> Iterator[Trial]:
    """Yield the trials of `trials.toml`, each followed by its variants."""
    for given in tomllib.loads(files(__package__).joinpath("trials.toml").read_text("utf-8"))["trial"]:
        kinds = []
        for share, takes, success, *others in given["kinds"]:
            arms = _TAKES[takes] if isinstance(takes, str) else tuple(takes)
            stratum, lost = (*others, "all", ())[0], (*others[1:], ())[0]
            kinds.append(Kind(share, arms, tuple(success), stratum, tuple(lost)))
        fixed = {stratum: tuple(probabilities) for stratum, probabilities in given.get("fixed", {}).items()}
        trial = Trial(
            given["name"],
            tuple(kinds),
            Allocation(fixed, given.get("learns", "")),
            given["n_patients"],
            given.get("drift", 0.0),
            given.get("logged", True),
            frozenset(given.get("breaks", ())),
        )
        yield trial
        yield from (replace(trial, **variant) for variant in given.get("also", ()))


TRIALS = tuple(_read())
