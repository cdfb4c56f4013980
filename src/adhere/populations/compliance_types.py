"""Populations made from compliance types, each with one behaviour ν and its rewards; and their TOML file format.

`arms` names the arms. Each `[[compliance_type]]` has a `name`, a `probability`, and the keys `takes` and `reward`.
`reward` gives the mean reward of each arm that the type takes, or one mean reward for all arms. `takes` maps every
chosen arm to the arm then taken, or is "as told". With two arms, `takes` may instead be never-taker, always-taker,
complier or defier. It may be omitted if the name of the compliance type is one of these four words. The file
`data/example.toml` beside this module has three arms. ::

    name = "rich and poor"      # optional; by default the file's name
    arms = ["control", "treatment"]

    [[compliance_type]]
    name = "rich"
    probability = 0.5
    takes = "always-taker"
    reward = { treatment = 0.75 }

    [[compliance_type]]
    name = "poor"
    probability = 0.5
    takes = { control = "control", treatment = "treatment" }
    reward = { control = 0.5, treatment = 0.25 }
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum, prod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from adhere.checks import check_arms, check_reward, check_sums_to_one, check_unique, check_unit_number, is_integer
from adhere.errors import InputError, nearest
from adhere.files import unreadable
from adhere.populations.population import Floats, PatientTables, Population
from adhere.protocols import NAMED, NONE, ProtocolLike, as_protocol

NEVER_TAKER = (0, 0)
ALWAYS_TAKER = (1, 1)
COMPLIER = (0, 1)
DEFIER = (1, 0)
BEHAVIOURS = {
    "never-taker": NEVER_TAKER,
    "always-taker": ALWAYS_TAKER,
    "complier": COMPLIER,
    "defier": DEFIER,
}
AS_TOLD = "as told"

Takes: TypeAlias = Sequence[int] | Mapping[str, str] | str
Rewards: TypeAlias = Sequence[float | None] | Mapping[str, float] | float


@dataclass(frozen=True, init=False)
class ComplianceType:
    """One compliance behaviour: the arm that is taken for each arm recommended, and the rewards.

    Parameters
    ----------
    name : str
        Name of the type.
    probability : float
        Share of patients with this type.
    takes : sequence of int, mapping or str, optional
        Arm taken for each arm recommended, ν(c): by index, or as a mapping of names. It can also be "as told", or the
        name of the arm that is always taken. With two arms it can be one of the paper's four behaviours. By default,
        the name of the type must be one of these four.
    reward : sequence of float, mapping or float, optional
        Mean reward of each arm when it is taken: by index, as a mapping of names, or one number for all arms. Arms
        that are never taken have None (or "-").

    See Also
    --------
    ComplianceTypes : The population that is a mixture of compliance types, and numbers what was given by name.

    Examples
    --------
    >>> ComplianceType("defier", 1.0, reward=(0, 1)).takes
    (1, 0)
    >>> walks = ComplianceType("walks anyway", 1.0, {"none": "walk", "walk": "walk"}, {"walk": 0.7})
    >>> walks.numbered(["none", "walk"])
    ComplianceType(name='walks anyway', probability=1.0, takes=(1, 1), reward=(None, 0.7))

    """

    name: str
    probability: float
    takes: tuple[int, ...]
    reward: tuple[float | None, ...]
    _is_taken_by_word: ClassVar[bool]

    def __init__(self, name: str, probability: float, takes: Takes = (), reward: Rewards = ()) -> None:
        if not isinstance(name, str) or not name.strip():
            raise InputError("compliance type name", name, "a name that is not empty")
        where = f"compliance type {name!r}, "
        taken, means = _checked_takes(where, name, takes), _checked_reward(where, reward)
        if isinstance(taken, str) and isinstance(means, tuple):
            taken = _behaviour(taken, len(means)) or taken
        if isinstance(taken, tuple) and isinstance(means, float):
            means = (means,) * len(taken)
        if isinstance(taken, tuple) and isinstance(means, tuple):
            if len(means) != len(taken):
                raise InputError(where + "reward", reward, f"{len(taken)} mean rewards, one per arm")
            means = tuple(_mean_of(where, arm, mean, taken) for arm, mean in enumerate(means))
        # In this case the number of mean rewards determines the number of arms, and may be wrong.
        object.__setattr__(self, "_is_taken_by_word", isinstance(takes, str))
        values = (name, check_unit_number(where + "probability", probability), taken, means)
        for field, value in zip(("name", "probability", "takes", "reward"), values, strict=True):
            object.__setattr__(self, field, value)

    def numbered(self, arms: Sequence[str]) -> ComplianceType:
        """Return the same compliance type with arms given by index."""
        where = f"compliance type {self.name!r}, "
        takes: Any = self.takes
        if isinstance(takes, str):
            takes = _taken_by_word(where, takes, arms)
        elif isinstance(takes, dict):
            _check_arms(where + "takes", [*takes, *takes.values()], arms)
            for arm in arms:
                if arm not in takes:
                    raise InputError(where + "takes", ", ".join(takes), f"also what is taken if {arm!r} is chosen")
            takes = tuple(arms.index(takes[arm]) for arm in arms)
        if len(takes) != len(arms) and self._is_taken_by_word:
            n, names = len(takes), ", ".join(arms)
            said = f"{where}reward: {n} mean {'reward' if n == 1 else 'rewards'} for {len(arms)} arms ({names})"
            raise InputError(where + "reward", self.reward, "one per arm", f"{said}; expected one per arm")
        if len(takes) != len(arms):
            raise InputError(where + "takes", takes, f"{len(arms)} arms, as many as {', '.join(arms)}")
        reward: Any = self.reward
        if isinstance(reward, dict):
            _check_arms(where + "reward", reward, arms)
            for arm in dict.fromkeys(arms[number] for number in takes):
                if arm not in reward:
                    expected = f"also the mean reward of {arm!r}, which it takes"
                    raise InputError(where + "reward", ", ".join(reward), expected)
            reward = tuple(reward.get(arm) for arm in arms)
        return ComplianceType(self.name, self.probability, takes, reward)

    def reward_when_chosen(self, arm: int) -> float:
        """Return r_{s,ν(c)}, the mean reward when this arm is chosen."""
        mean = self.reward[self.takes[arm]]
        assert mean is not None, "a compliance type holds the reward of every arm it takes"
        return mean

    def outcomes(self) -> dict[int, list[tuple[float, float]]]:
        """Return the values (reward, probability) of the patient's Bernoulli reward, by the arm taken."""
        means = {self.takes[arm]: self.reward_when_chosen(arm) for arm in range(len(self.takes))}
        return {arm: [pair for pair in ((0.0, 1 - mean), (1.0, mean)) if pair[1] > 0] for arm, mean in means.items()}


def _checked_takes(where: str, name: str, takes: object) -> Any:
    """Check and return the arms taken, given as a tuple of indices, a dictionary of names, or a word."""
    if isinstance(takes, str):
        return takes.strip()  # it may be the name of an arm, which cannot be checked here
    if isinstance(takes, Mapping):
        return dict(takes)
    if not isinstance(takes, (tuple, list, np.ndarray)):
        expected = "the arm taken for each chosen arm, e.g. {'control': 'treatment', …}, or 'as told'"
        raise InputError(where + "takes", takes, expected)
    arms = tuple(takes) or BEHAVIOURS.get(name.strip().lower(), ())
    if not arms:
        expected = (
            f"the arm taken for each chosen arm, or a compliance type name that says so, {nearest(name, BEHAVIOURS)}"
        )
        raise InputError(where + "takes", takes, expected)
    for arm in arms:
        if not is_integer(arm) or not 0 <= arm < len(arms):
            raise InputError(where + "takes", arm, f"arms numbered from 0 to {len(arms) - 1}")
    return tuple(int(arm) for arm in arms)


def _checked_reward(where: str, reward: object) -> Any:
    """Check and return the mean rewards: a tuple by index, a dictionary by name, or one number for all arms."""
    if isinstance(reward, Mapping):
        return {arm: check_reward(f"{where}reward of {arm!r}", mean) for arm, mean in reward.items()}
    if isinstance(reward, (tuple, list, np.ndarray)):
        return tuple(reward)
    return check_reward(where + "reward", reward)


def _mean_of(where: str, arm: int, mean: object, takes: tuple[int, ...]) -> float | None:
    if mean in (None, "-") and arm not in takes:
        return None
    return check_reward(f"{where}reward of arm {arm}", mean)


def _behaviour(word: str, n_arms: int) -> tuple[int, ...] | None:
    """Return the arm taken for each chosen arm, given a word, or None if the word does not apply to `n_arms` arms."""
    if word.lower() == AS_TOLD:
        return tuple(range(n_arms))
    return BEHAVIOURS.get(word.lower()) if n_arms == 2 else None


def _taken_by_word(where: str, word: str, arms: Sequence[str]) -> tuple[int, ...]:
    if found := _behaviour(word, len(arms)):
        return found
    if word not in arms:
        words = nearest(word, [AS_TOLD, *arms, *(BEHAVIOURS if len(arms) == 2 else ())])
        example = f"{{{arms[0]!r}: {arms[1]!r}, …}}"
        raise InputError(where + "takes", word, f"{words}, or the arm taken for each chosen arm, e.g. {example}")
    return (arms.index(word),) * len(arms)


def _check_arms(where: str, names: Sequence[object] | Mapping[str, float], arms: Sequence[str]) -> None:
    for name in names:
        if name not in arms:
            raise InputError(where, name, nearest(str(name), arms))


MAX_PATIENT_TYPES = 1024


class Reach(NamedTuple):
    """The reward r_{s,j} of compliance type s when it takes arm j."""

    compliance_type: str
    taken: str


@dataclass(frozen=True, repr=False)
class ComplianceTypes(Population):
    """Population that is a mixture of compliance types.

    Each patient has one compliance type and, for every arm that the type can take, one Bernoulli reward. The reward
    belongs to the patient and the arm taken (Definition 2 of the paper), so a never-taker gains the same whatever is
    recommended.

    Parameters
    ----------
    name : str
        Name of the population.
    arms : tuple of str
        Names of the arms, the control first.
    types : sequence of ComplianceType
        Compliance types, with probabilities that add up to 1.
    source : str, optional
        Source of the data, which results mention.
    arm_order : str, optional
        Reason for the order of the arms, in words.

    See Also
    --------
    ComplianceType : One compliance behaviour.
    Counts : A population resampled from records.

    Notes
    -----
    Patients are drawn as a whole (D = 1) if there are at most 1024 kinds of them. Otherwise each arm has a draw of
    its own (D = k). The distribution that policies learn from is the same. Only the spread of the realised surplus
    differs, because it compares the arms of one patient.

    Examples
    --------
    >>> all_defiers = ComplianceTypes("defiers", ("no", "yes"), [ComplianceType("defier", 1.0, reward=(0, 1))])
    >>> all_defiers.mean_given_chosen().tolist(), all_defiers.mean_given_actual().tolist()
    ([1.0, 0.0], [0.0, 1.0])

    """

    types: Sequence[ComplianceType]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "types", tuple(self.types))
        if not self.types:
            raise InputError("types", self.types, "at least one compliance type")
        for one in self.types:
            if not isinstance(one, ComplianceType):
                raise InputError("types", one, "compliance types, each of them a ComplianceType")
        object.__setattr__(self, "types", tuple(one.numbered(self.arms) for one in self.types))
        check_unique("types", [one.name for one in self.types])
        check_sums_to_one("probabilities of the compliance types", [one.probability for one in self.types])

    @property
    def reward_values(self) -> tuple[float, ...]:
        """Every reward that can occur: 0, 1 or both."""
        means = [s.reward_when_chosen(arm) for s in self._present() for arm in range(self.n_arms)]
        return (0.0,) * any(mean < 1 for mean in means) + (1.0,) * any(mean > 0 for mean in means)

    def compliance(self) -> Floats:
        """Return P(actual a | chosen c), as an array [chosen, actual]."""
        probability: Floats = self._cell_weights().sum(axis=2)
        return probability

    def reward_mass(self) -> Floats:
        """Return E[R · 1(actual a) | chosen c], as an array [chosen, actual]."""
        return self._cell_weights()[:, :, 1]

    def tables(self, seed: int, first_run: int, n_runs: int) -> PatientTables:
        """Return the tables from which patients are drawn; they are the same in every run."""
        weights = self._cell_weights()
        means = weights[:, :, 1].sum(axis=1)[None, :]
        if sum(prod(map(len, one.outcomes().values())) for one in self._present()) <= MAX_PATIENT_TYPES:
            probability, takes, rewards = zip(*self._patient_types(), strict=True)
            return PatientTables.from_weights(
                np.array(probability)[None, None, :], np.array(takes).T, np.array(rewards).T, means
            )
        # Empty cells would only slow the search down: few of an arm's 2k cells are used.
        weights = weights.reshape(self.n_arms, -1)
        is_empty = weights == 0
        cells = np.argsort(is_empty, axis=1, kind="stable")[:, : (~is_empty).sum(axis=1).max()]
        actual, reward = np.divmod(cells, 2)
        return PatientTables.from_weights(np.take_along_axis(weights, cells, axis=1)[None], actual, reward, means)

    def reached_by(self, protocol: ProtocolLike) -> dict[str, tuple[Reach, ...]]:
        """Return the rewards r_{s,j} that the protocol credits to each arm.

        Parameters
        ----------
        protocol
            A `Protocol`, "chosen", "actual", "comply", or a k × k table [chosen][actual] of the arm to credit, None
            for none.

        Examples
        --------
        >>> compliers = ComplianceTypes("compliers", ("no", "yes"), [ComplianceType("complier", 1.0, reward=(0, 1))])
        >>> compliers.reached_by("comply")["no"]
        (Reach(compliance_type='complier', taken='no'),)

        """
        credit = as_protocol(protocol).credits(self.n_arms)
        found: dict[str, dict[Reach, None]] = {arm: {} for arm in self.arms}  # keeps the order, drops duplicates
        for one in self.types:
            for chosen, actual in enumerate(one.takes):
                credited = credit[chosen, actual]
                if credited != NONE:
                    found[self.arms[credited]][Reach(one.name, self.arms[actual])] = None
        return {arm: tuple(reaches) for arm, reaches in found.items()}

    def protocol_table(self) -> dict[str, dict[str, tuple[Reach, ...]]]:
        """Return the paper's table (section 2.3): the rewards r_{s,j} credited to each arm, by protocol."""
        return {protocol: self.reached_by(protocol) for protocol in NAMED}

    def _cell_weights(self) -> Floats:
        """Return P(actual a, reward r | chosen c), as an array [c, a, r]."""
        weights = np.zeros((self.n_arms, self.n_arms, 2))
        total = fsum(one.probability for one in self.types)
        every_arm = np.arange(self.n_arms)
        for one in self.types:
            mean = np.array(one.reward, dtype=np.float64)[list(one.takes)]
            weights[every_arm, one.takes] += np.stack([1 - mean, mean], axis=1) * (one.probability / total)
        return weights

    def _present(self) -> list[ComplianceType]:
        return [one for one in self.types if one.probability > 0]

    def _patient_types(self) -> Iterator[tuple[float, tuple[int, ...], tuple[float, ...]]]:
        """Yield the probability of each type of patient, and the arm taken and the reward for each chosen arm."""
        for one in self._present():
            outcomes = one.outcomes()
            for combination in product(*outcomes.values()):
                gain = dict(zip(outcomes, combination, strict=True))
                outcome = prod(probability for _, probability in combination)
                yield (
                    one.probability * outcome,
                    one.takes,
                    tuple(gain[arm][0] for arm in one.takes),
                )


def read_compliance_types(path: str | Path) -> ComplianceTypes:
    """Return the population that a TOML file describes."""
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise unreadable("file", path, error) from None
    except UnicodeDecodeError as error:
        raise InputError(str(path), error.object[error.start : error.end], "UTF-8 text") from None
    except (ValueError, RecursionError) as error:  # invalid TOML, a number too long or lists nested too deeply
        raise InputError(str(path), str(error), "valid TOML") from None
    try:
        return _types(document, path.stem)
    except InputError as error:
        raise InputError(f"{path}, {error.field}", error.value, error.expected) from None


def _types(document: Mapping[str, Any], default_name: str) -> ComplianceTypes:
    _check_keys("top level", document, required=("arms", "compliance_type"), optional=("name",))
    arms = check_arms(_of_type("arms", document["arms"], list, 'a list of names, like ["control", "treatment"]'))
    tables = _of_type(
        "compliance_type", document["compliance_type"], list, "one [[compliance_type]] table for each compliance type"
    )
    name = _of_type("name", document.get("name", default_name), str, "a name in quotes")
    return ComplianceTypes(
        name, arms, [_compliance_type(number, table, arms) for number, table in enumerate(tables, start=1)]
    )


def _compliance_type(number: int, given: object, arms: tuple[str, ...]) -> ComplianceType:
    where = f"compliance type {number}"
    table = _of_type(where, given, dict, "a [[compliance_type]] table")
    always = ("name", "probability", "reward")
    # The four behaviours are only defined for two arms.
    required, optional = (always, ("takes",)) if len(arms) == 2 else ((*always, "takes"), ())
    _check_keys(where, table, required, optional)
    return ComplianceType(table["name"], table["probability"], table.get("takes", ()), table["reward"])


def _check_keys(where: str, table: Mapping[str, Any], required: Sequence[str], optional: Sequence[str]) -> None:
    for key in table:
        if key not in {*required, *optional}:
            raise InputError(where, key, nearest(key, [*required, *optional]))
    for key in required:
        if key not in table:
            raise InputError(where, ", ".join(table), f"also the key {key}")


def _of_type(where: str, value: object, kind: type, expected: str) -> Any:
    if not isinstance(value, kind):
        raise InputError(where, value, expected)
    return value
