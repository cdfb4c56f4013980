"""The clients of the distribution adhere-client, whose refusals are here also adhere's own exceptions."""

from typing import ClassVar

from adhere import errors

try:
    import adhere_client
    from adhere_client import ServiceError as ServiceError
except ModuleNotFoundError as error:
    if error.name != "adhere_client":
        raise
    missing = "adhere.Client needs adhere-client: in adhere's repository, pip install ./packages/adhere-client"
    raise ModuleNotFoundError(missing, name="adhere_client") from None


class InputError(adhere_client.InputError, errors.InputError):
    """A value that is refused."""


class UnknownError(adhere_client.UnknownError, errors.UnknownError):
    """A name or number that does not exist, or that the caller may not see."""


class ConflictError(adhere_client.ConflictError, errors.ConflictError):
    """A valid value that conflicts with what was recorded before."""


_OWN_ERRORS = {
    adhere_client.InputError: InputError,
    adhere_client.UnknownError: UnknownError,
    adhere_client.ConflictError: ConflictError,
}


class Client(adhere_client.Client):
    """`adhere_client.Client`, which describes it; what it refuses can be caught as `adhere.InputError` too."""

    _own_errors: ClassVar = _OWN_ERRORS


class AsyncClient(adhere_client.AsyncClient):
    """`adhere_client.AsyncClient`, which describes it; what it refuses can be caught as `adhere.InputError` too."""

    _own_errors: ClassVar = _OWN_ERRORS
