"""A client of the service."""

from adhere.client.client import Client as Client
from adhere.client.connection import ServiceError as ServiceError
