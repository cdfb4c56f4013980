"""One trial, live."""

from adhere.trial.trial import Recommendation as Recommendation
from adhere.trial.trial import Trial as Trial
