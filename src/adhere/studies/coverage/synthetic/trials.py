"""The ten trials of the statistician's bar, most of them in two sizes or with a variant."""

from __future__ import annotations

from dataclasses import replace

from adhere.studies.coverage.synthetic.patients import Allocation, Kind, Trial

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
