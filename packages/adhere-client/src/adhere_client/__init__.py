"""Call an adhere service from Python: `Client` blocks, `AsyncClient` is for async code; both have the same calls."""

from __future__ import annotations

from adhere_client.answers import Access as Access
from adhere_client.answers import Answer as Answer
from adhere_client.answers import ArmAtLook as ArmAtLook
from adhere_client.answers import ArmEstimate as ArmEstimate
from adhere_client.answers import Characteristic as Characteristic
from adhere_client.answers import CheckedDesign as CheckedDesign
from adhere_client.answers import Compliance as Compliance
from adhere_client.answers import DayEnrolment as DayEnrolment
from adhere_client.answers import Derivation as Derivation
from adhere_client.answers import DerivedAgain as DerivedAgain
from adhere_client.answers import Design as Design
from adhere_client.answers import HistoryLine as HistoryLine
from adhere_client.answers import Imputation as Imputation
from adhere_client.answers import IssuedRecommendation as IssuedRecommendation
from adhere_client.answers import IssuedToken as IssuedToken
from adhere_client.answers import ListedRecommendation as ListedRecommendation
from adhere_client.answers import LogLine as LogLine
from adhere_client.answers import LogPage as LogPage
from adhere_client.answers import Look as Look
from adhere_client.answers import LookSummary as LookSummary
from adhere_client.answers import LookThreshold as LookThreshold
from adhere_client.answers import Monitor as Monitor
from adhere_client.answers import PolicyDetails as PolicyDetails
from adhere_client.answers import PolicyParameter as PolicyParameter
from adhere_client.answers import Reason as Reason
from adhere_client.answers import RecommendationDetails as RecommendationDetails
from adhere_client.answers import Recorded as Recorded
from adhere_client.answers import Results as Results
from adhere_client.answers import SignInLink as SignInLink
from adhere_client.answers import SimulatedScenario as SimulatedScenario
from adhere_client.answers import Simulation as Simulation
from adhere_client.answers import SiteEnrolment as SiteEnrolment
from adhere_client.answers import TokenDetails as TokenDetails
from adhere_client.answers import TrialDetails as TrialDetails
from adhere_client.answers import TrialEnrolment as TrialEnrolment
from adhere_client.answers import TrialLine as TrialLine
from adhere_client.answers import Verification as Verification
from adhere_client.async_client import AsyncClient as AsyncClient
from adhere_client.client import Client as Client
from adhere_client.errors import ConflictError as ConflictError
from adhere_client.errors import InputError as InputError
from adhere_client.errors import ServiceError as ServiceError
from adhere_client.errors import UnknownError as UnknownError
from adhere_client.exploration import Exploration as Exploration
