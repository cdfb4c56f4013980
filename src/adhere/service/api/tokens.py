"""Handlers of tokens and of links to sign in."""

from datetime import timedelta
from functools import partial

from msgspec import convert
from msgspec.structs import asdict

from adhere.access.sessions import LINK_FRAGMENT
from adhere.service.context import RequestContext, reading
from adhere.store import ReadTransaction, Token
from adhere_client.responses.service import IssuedToken, SignInLink, TokenDetails, TokenList


async def make_token(context: RequestContext) -> IssuedToken:
    """Make a token; its text is shown only now."""
    service, body = context.service, context.body
    token, text = await service.group_commit.run(lambda: service.tokens.make(**asdict(body), by=context.holder.id))
    return _created(token, text)


async def rotate_token(context: RequestContext) -> IssuedToken:
    """Replace a valid token by a new token with the same rights; the old token ends at once or after an overlap."""
    service, body = context.service, context.body
    overlap = timedelta(seconds=body.overlap_seconds)
    rotate = partial(
        service.tokens.rotate, context.id, overlap=overlap, expires_at=body.expires_at, by=context.holder.id
    )
    return _created(*await service.group_commit.run(rotate))


async def make_link(context: RequestContext) -> SignInLink:
    """Make a link with which the holder of a token can sign in to the pages once."""
    service, minutes = context.service, context.body.minutes
    text, end = await service.group_commit.run(lambda: service.sessions.make_link(context.id, minutes))
    return SignInLink(f"{service.settings.root_path}/app/sign-in{LINK_FRAGMENT}{text}", end)


@reading
def list_tokens(context: RequestContext, view: ReadTransaction) -> TokenList:
    """List all tokens."""
    status = context.service.tokens.status
    return TokenList([convert(token._asdict() | {"status": status(token)}, TokenDetails) for token in view.tokens()])


async def revoke_token(context: RequestContext) -> None:
    """Revoke a token; the last admin's token cannot be revoked."""
    await context.service.group_commit.run(lambda: context.service.tokens.revoke(context.id, by=context.holder.id))


def _created(token: Token, text: str) -> IssuedToken:
    return convert(token._asdict() | {"token": text}, IssuedToken)
