"""Call an adhere service from Python: `Client` blocks, `AsyncClient` is for async code; both have the same calls."""

from __future__ import annotations

from adhere_client.answers.answer import Answer as Answer
from adhere_client.answers.answer import Recorded as Recorded
from adhere_client.answers.designs import CheckedDesign as CheckedDesign
from adhere_client.answers.designs import Design as Design
from adhere_client.answers.designs import Imputation as Imputation
from adhere_client.answers.designs import PolicyDetails as PolicyDetails
from adhere_client.answers.designs import PolicyParameter as PolicyParameter
from adhere_client.answers.explorations import Exploration as Exploration
from adhere_client.answers.log import Access as Access
from adhere_client.answers.log import DerivedAgain as DerivedAgain
from adhere_client.answers.log import LogLine as LogLine
from adhere_client.answers.log import LogPage as LogPage
from adhere_client.answers.log import Reason as Reason
from adhere_client.answers.log import Verification as Verification
from adhere_client.answers.recommendations import Derivation as Derivation
from adhere_client.answers.recommendations import HistoryLine as HistoryLine
from adhere_client.answers.recommendations import IssuedRecommendation as IssuedRecommendation
from adhere_client.answers.recommendations import ListedRecommendation as ListedRecommendation
from adhere_client.answers.recommendations import RecommendationDetails as RecommendationDetails
from adhere_client.answers.results import ArmEstimate as ArmEstimate
from adhere_client.answers.results import Compliance as Compliance
from adhere_client.answers.results import Monitor as Monitor
from adhere_client.answers.results import Results as Results
from adhere_client.answers.simulations import Characteristic as Characteristic
from adhere_client.answers.simulations import SimulatedScenario as SimulatedScenario
from adhere_client.answers.simulations import Simulation as Simulation
from adhere_client.answers.tokens import IssuedToken as IssuedToken
from adhere_client.answers.tokens import SignInLink as SignInLink
from adhere_client.answers.tokens import TokenDetails as TokenDetails
from adhere_client.answers.trials import ArmAtLook as ArmAtLook
from adhere_client.answers.trials import DayEnrolment as DayEnrolment
from adhere_client.answers.trials import Look as Look
from adhere_client.answers.trials import LookSummary as LookSummary
from adhere_client.answers.trials import LookThreshold as LookThreshold
from adhere_client.answers.trials import SiteEnrolment as SiteEnrolment
from adhere_client.answers.trials import TrialDetails as TrialDetails
from adhere_client.answers.trials import TrialEnrolment as TrialEnrolment
from adhere_client.answers.trials import TrialLine as TrialLine
from adhere_client.async_client import AsyncClient as AsyncClient
from adhere_client.client import Client as Client
from adhere_client.errors import ConflictError as ConflictError
from adhere_client.errors import InputError as InputError
from adhere_client.errors import ServiceError as ServiceError
from adhere_client.errors import UnknownError as UnknownError
