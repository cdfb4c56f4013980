"""Responses about the service: its tokens, links to sign in, and health."""

from typing import Annotated, Any

from adhere_client.responses import Response, about


class Healthy(Response, frozen=True, omit_defaults=False):
    """The response of a health check if the service works."""

    status: str = "ok"


class Start(Response, frozen=True):
    """The name of this service, and the paths of its pages and documents."""

    name: str
    version: str
    description: str
    docs: Annotated[str, about("The path of the page about the API.")]
    openapi: Annotated[str, about("The path of the OpenAPI document.")]
    ready: Annotated[str, about("The path that shows whether the service can write.")]
    next: Annotated[str, about("The first steps.")]


class IssuedToken(Response, frozen=True):
    """A new token. Its text is shown only here; printing this response does not show it."""

    id: int
    token: str
    role: str
    label: str
    site: str | None = None
    trial: str | None = None
    expires_at: str | None = None

    def __repr__(self) -> str:
        return f"IssuedToken(id={self.id}, token=(not shown), role={self.role!r}, label={self.label!r})"

    def __rich_repr__(self) -> Any:  # the fields that rich prints instead
        yield from (("id", self.id), ("role", self.role), ("label", self.label))


class SignInLink(Response, frozen=True):
    """A one-time link to sign in with the rights of a token. It is shown only here.

    To use it, append its path to the service's address.
    """

    path: Annotated[
        str,
        about("Its path on this service, with its secret in the fragment, which browsers send to nobody."),
    ]
    expires_at: str


class TokenDetails(Response, frozen=True):
    """A token in a list: its holder, its rights, and whether it is valid, expired or revoked."""

    id: int
    role: str
    label: str
    made_at: str
    status: str
    site: str | None = None
    trial: str | None = None
    expires_at: str | None = None
    revoked_at: str | None = None
    last_used_at: Annotated[str | None, about("The time of the last use, accurate to about a minute.")] = None


class TokenList(Response, frozen=True):
    """All tokens, including expired and revoked ones."""

    tokens: list[TokenDetails]
