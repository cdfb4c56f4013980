"""Handlers of tokens."""

from __future__ import annotations

from msgspec import convert
from msgspec.structs import asdict

from adhere.service.context import RequestContext, reading
from adhere.service.responses import TokenCreated, TokenLine, TokenList
from adhere.store import ReadTransaction


async def make_token(context: RequestContext) -> TokenCreated:
    """Make a token; its text is shown only now."""
    service, body = context.service, context.body
    token, text = await service.group_commit.run(lambda: service.tokens.make(**asdict(body)))
    return TokenCreated(token.id, text, body.role, token.label, token.site, token.trial)


@reading
def list_tokens(context: RequestContext, view: ReadTransaction) -> TokenList:
    """List all tokens."""
    return TokenList([convert(token._asdict(), TokenLine) for token in view.tokens()])


async def revoke_token(context: RequestContext) -> None:
    """Revoke a token; the last admin's cannot be revoked."""
    await context.service.group_commit.run(lambda: context.service.tokens.revoke(context.id))
