"""The clients of the package adhere-client, with errors that are also adhere's own exceptions."""

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
    """Client of a service, for programs that block until a response arrives.

    The methods are those of `adhere_client.Client`. Refused values can also be caught as `InputError`, `UnknownError`
    and `ConflictError` of adhere.

    Parameters
    ----------
    url : str
        Address of the service, such as ``"https://trials.example.org"``.
    token : str
        Access code. Its role decides which methods the service permits.
    timeout : float, default 30
        Number of seconds to wait for a response.
    tries : int, default 8
        Number of attempts if the service does not respond. Every attempt has the same idempotency key.

    See Also
    --------
    AsyncClient : The same calls for asynchronous code.
    Trial : A trial in memory, without a service.
    ServiceError : The error if the service does not respond or fails.

    Examples
    --------
    >>> import adhere
    >>> site = adhere.Client("http://127.0.0.1:9", "adh_example", tries=1)  # nothing listens at this port
    >>> try:
    ...     site.recommend("headache", "patient-17")
    ... except adhere.ServiceError as error:
    ...     print(error.status)
    0

    """

    _own_errors: ClassVar = _OWN_ERRORS


class AsyncClient(adhere_client.AsyncClient):
    """Client of a service, for asynchronous programs.

    The methods are those of `adhere_client.AsyncClient`. Refused values can also be caught as `InputError`,
    `UnknownError` and `ConflictError` of adhere.

    Parameters
    ----------
    url : str
        Address of the service, such as ``"https://trials.example.org"``.
    token : str
        Access code. Its role decides which methods the service permits.
    timeout : float, default 30
        Number of seconds to wait for a response.
    tries : int, default 8
        Number of attempts if the service does not respond. Every attempt has the same idempotency key.

    See Also
    --------
    Client : The same calls for code that blocks.
    Trial : A trial in memory, without a service.
    ServiceError : The error if the service does not respond or fails.

    Examples
    --------
    >>> import asyncio
    >>> import adhere
    >>> async def enter(subject):
    ...     site = adhere.AsyncClient("http://127.0.0.1:9", "adh_example", tries=1)  # nothing listens at this port
    ...     try:
    ...         return await site.recommend("headache", subject)
    ...     except adhere.ServiceError as error:
    ...         return error.status
    >>> asyncio.run(enter("patient-17"))
    0

    """

    _own_errors: ClassVar = _OWN_ERRORS
