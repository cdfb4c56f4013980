"""Call an adhere service from Python, with `Client`, which blocks, or with `AsyncClient` in async code.

Both clients have the same calls. The types of the results are in `adhere_client.responses`.
"""

from adhere_client.client import AsyncClient as AsyncClient
from adhere_client.client import Client as Client
from adhere_client.errors import ConflictError as ConflictError
from adhere_client.errors import InputError as InputError
from adhere_client.errors import ServiceError as ServiceError
from adhere_client.errors import UnknownError as UnknownError
