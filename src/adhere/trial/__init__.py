"""A live trial: its rules, its log, and the code that changes it."""

from adhere.trial.trial import Recommendation as Recommendation
from adhere.trial.trial import Trial as Trial
