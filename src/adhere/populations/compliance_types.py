"""Populations made from compliance types: groups of patients who share one compliance behaviour ν and its rewards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum, prod
from typing import NamedTuple

import numpy as np

from adhere.checks import check_sums_to_one, check_unique
from adhere.errors import InputError
from adhere.populations.compliance_type import ComplianceType
from adhere.populations.population import Floats, PatientTables, Population
from adhere.protocols import NAMED, NONE, ProtocolLike, as_protocol

MAX_PATIENT_TYPES = 1024


class Reach(NamedTuple):
    """The reward r_{s,j} of one compliance type s when it takes arm j."""

    compliance_type: str
    taken: str


@dataclass(frozen=True, repr=False)
class ComplianceTypes(Population):
    """A mixture of compliance types; each patient has one of them and, per arm it can take, one Bernoulli reward.

    The reward belongs to the patient and the taken arm (Definition 2 of the paper), so a never-taker gains
    the same whatever is chosen. Patients are drawn whole (D = 1) as long as there are at most 1024 types of
    them; beyond that each chosen arm has a draw of its own (D = k). Every policy learns and earns with the same
    distribution either way; only the spread of the realised surplus, which compares the arms of one patient, differs.

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
        """P(actual a | chosen c), as [chosen, actual]."""
        probability: Floats = self._cell_weights().sum(axis=2)
        return probability

    def reward_mass(self) -> Floats:
        """E[R · 1(actual a) | chosen c], as [chosen, actual]."""
        return self._cell_weights()[:, :, 1]

    def tables(self, seed: int, first_run: int, n_runs: int) -> PatientTables:
        """How patients are drawn, the same in every run."""
        weights = self._cell_weights()
        means = weights[:, :, 1].sum(axis=1)[None, :]
        if self._n_patient_types() <= MAX_PATIENT_TYPES:
            probability, takes, rewards = zip(*self._patient_types(), strict=True)
            return PatientTables.from_weights(
                np.array(probability)[None, None, :], np.array(takes).T, np.array(rewards).T, means
            )
        # Cells that nobody is in would only be searched: of 2k, each arm has a few.
        weights = weights.reshape(self.n_arms, -1)
        is_empty = weights == 0
        cells = np.argsort(is_empty, axis=1, kind="stable")[:, : (~is_empty).sum(axis=1).max()]
        actual, reward = np.divmod(cells, 2)
        return PatientTables.from_weights(np.take_along_axis(weights, cells, axis=1)[None], actual, reward, means)

    def reached_by(self, protocol: ProtocolLike) -> dict[str, tuple[Reach, ...]]:
        """For each arm, which rewards r_{s,j} the protocol credits to it.

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
        found: dict[str, dict[Reach, None]] = {arm: {} for arm in self.arms}  # a dict keeps order and drops repeats
        for one in self.types:
            for chosen, actual in enumerate(one.takes):
                credited = credit[chosen, actual]
                if credited != NONE:
                    found[self.arms[credited]][Reach(one.name, self.arms[actual])] = None
        return {arm: tuple(reaches) for arm, reaches in found.items()}

    def protocol_table(self) -> dict[str, dict[str, tuple[Reach, ...]]]:
        """The paper's table (section 2.3): protocol → arm → the rewards r_{s,j} credited to it."""
        return {protocol: self.reached_by(protocol) for protocol in NAMED}

    def _cell_weights(self) -> Floats:
        """P(actual a, reward r | chosen c), as [c, a, r]."""
        weights = np.zeros((self.n_arms, self.n_arms, 2))
        total = fsum(one.probability for one in self.types)
        every_arm = np.arange(self.n_arms)
        for one in self.types:
            mean = np.array(one.reward, dtype=np.float64)[list(one.takes)]
            weights[every_arm, one.takes] += np.stack([1 - mean, mean], axis=1) * (one.probability / total)
        return weights

    def _present(self) -> list[ComplianceType]:
        return [one for one in self.types if one.probability > 0]

    def _n_patient_types(self) -> int:
        return sum(prod(len(outcomes) for outcomes in one.outcomes().values()) for one in self._present())

    def _patient_types(self) -> Iterator[tuple[float, tuple[int, ...], tuple[float, ...]]]:
        """Each type's probability, what it takes and what it gains for each chosen arm."""
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
