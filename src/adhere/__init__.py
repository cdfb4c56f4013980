"""Adaptive trials for people who do not always do as they are told.

>>> import adhere
>>> result = adhere.simulate(["thompson", "thompson/actual"], "defiers", n_patients=200, n_runs=20)
>>> result["defiers", "thompson/actual"].surplus.mean < 0 < result["defiers", "thompson"].surplus.mean
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adhere.analysis.analysis import Analysis as Analysis
    from adhere.client import AsyncClient as AsyncClient
    from adhere.client import Client as Client
    from adhere.client import ServiceError as ServiceError
    from adhere.contract import check_policies as check_policies
    from adhere.design.design import Design as Design
    from adhere.design.design_file import load_design as load_design
    from adhere.errors import ConflictError as ConflictError
    from adhere.errors import InputError as InputError
    from adhere.errors import PolicyError as PolicyError
    from adhere.errors import UnknownError as UnknownError
    from adhere.evaluation.evaluate import evaluate as evaluate
    from adhere.evaluation.evaluation import Evaluation as Evaluation
    from adhere.evaluation.search.calibration import Calibration as Calibration
    from adhere.evaluation.search.calibration import calibrate as calibrate
    from adhere.evaluation.search.sample_size import SampleSize as SampleSize
    from adhere.evaluation.search.sample_size import sample_size as sample_size
    from adhere.policies import ComplianceAwareLearner as ComplianceAwareLearner
    from adhere.policies import Learner as Learner
    from adhere.policies import Policy as Policy
    from adhere.policies import hedge as hedge
    from adhere.policies import hierarchical_hedge as hierarchical_hedge
    from adhere.policies import import_policies as import_policies
    from adhere.policies import optimal_surplus as optimal_surplus
    from adhere.policies import parse_policy as parse_policy
    from adhere.policies.all_policies import *  # noqa: F403  (a new file is a new name)
    from adhere.populations import ComplianceType as ComplianceType
    from adhere.populations import ComplianceTypes as ComplianceTypes
    from adhere.populations import Counts as Counts
    from adhere.populations import Population as Population
    from adhere.populations import as_population as as_population
    from adhere.populations import describe as describe
    from adhere.protocols import Protocol as Protocol
    from adhere.record_sources import analyse as analyse
    from adhere.simulation import SimulationResult as SimulationResult
    from adhere.simulation import simulate as simulate
    from adhere.studies.arena.arena import arena as arena
    from adhere.trial import Recommendation as Recommendation
    from adhere.trial import Trial as Trial

__version__: str

# Names are imported when first used, so that `adhere --help` does not wait for the compiler to load.
_PUBLIC = {
    "adhere.analysis.analysis": "Analysis",
    "adhere.client": "AsyncClient Client ServiceError",
    "adhere.contract": "check_policies",
    "adhere.evaluation.evaluate": "evaluate",
    "adhere.evaluation.evaluation": "Evaluation",
    "adhere.evaluation.search.calibration": "Calibration calibrate",
    "adhere.evaluation.search.sample_size": "SampleSize sample_size",
    "adhere.errors": "ConflictError InputError PolicyError UnknownError",
    "adhere.policies": "ComplianceAwareLearner Learner Policy hedge hierarchical_hedge import_policies"
    " optimal_surplus parse_policy",
    "adhere.populations": "Counts Population ComplianceTypes ComplianceType as_population describe",
    "adhere.protocols": "Protocol",
    "adhere.record_sources": "analyse",
    "adhere.simulation": "SimulationResult simulate",
    "adhere.studies.arena.arena": "arena",
    "adhere.trial": "Recommendation Trial",
    "adhere.design.design": "Design",
    "adhere.design.design_file": "load_design",
}
_HOMES = {name: home for home, names in _PUBLIC.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted(_all())


def _all() -> list[str]:
    from adhere.policies import all_policies

    return ["__version__", *_HOMES, *all_policies.CLASSES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("adhere")
    if name == "__all__":
        return _all()
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name[:1].isupper() and name in _all():  # the class of a policy
        return getattr(import_module("adhere.policies"), name)
    raise AttributeError(f"module 'adhere' has no attribute {name!r}")
