"""One trial, live."""

from adhere.trial.trial import Recommendation, Trial

__all__ = ["Recommendation", "Trial"]
