"""A client of the service."""

from adhere.client.client import Client, IssuedRecommendation, IssuedToken, Recorded
from adhere.client.connection import ServiceError

__all__ = ["Client", "IssuedRecommendation", "IssuedToken", "Recorded", "ServiceError"]
