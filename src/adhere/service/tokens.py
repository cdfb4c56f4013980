"""Handlers of tokens."""

from __future__ import annotations

from adhere.service.context import RequestContext
from adhere.service.requests import NewToken
from adhere.service.responses import TokenCreated, TokenLine, TokenList
from adhere.store import ReadTransaction


async def make_token(context: RequestContext) -> TokenCreated:
    """Make a token; its text is shown only now."""
    body: NewToken = context.body
    service = context.service
    token, text = await service.group_commit.run(
        lambda: service.tokens.make(body.role, body.label, site=body.site, trial=body.trial)
    )
    return TokenCreated(token.id, text, body.role, token.label, token.site, token.trial)


async def list_tokens(context: RequestContext) -> TokenList:
    """All tokens, without their texts."""

    def look(view: ReadTransaction) -> TokenList:
        return TokenList(
            [
                TokenLine(token.id, token.role, token.label, token.made_at, token.site, token.trial, token.revoked_at)
                for token in view.tokens()
            ]
        )

    return await context.service.read(look)


async def revoke_token(context: RequestContext) -> None:
    """Revoke a token."""
    await context.service.group_commit.run(lambda: context.service.tokens.revoke(context.id))
