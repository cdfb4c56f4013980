"""The calls of the service, each described once. `Client` and `AsyncClient` carry them out."""

from adhere_client.calls import designs as designs
from adhere_client.calls import recommendations as recommendations
from adhere_client.calls import tokens as tokens
from adhere_client.calls import trials as trials
