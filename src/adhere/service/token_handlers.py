"""Handlers of tokens."""

from __future__ import annotations

from adhere.service.answers import TokenLine, TokenList, TokenMade
from adhere.service.bodies import NewToken
from adhere.service.calls import Call
from adhere.store import Reading


async def make_token(call: Call) -> TokenMade:
    """A new token, shown this once."""
    asked: NewToken = call.body
    token, text = await call.service.writer.run(lambda: call.service.tokens.make(asked))
    return TokenMade(token.id, text, asked.role, token.label, token.site, token.trial)


async def list_tokens(call: Call) -> TokenList:
    """All tokens, without what could be used."""

    def look(view: Reading) -> TokenList:
        return TokenList(
            [
                TokenLine(token.id, token.role, token.label, token.made_at, token.site, token.trial, token.revoked_at)
                for token in view.tokens()
            ]
        )

    return await call.service.read(look)


async def revoke_token(call: Call) -> None:
    """Make a token useless from now on."""
    await call.service.writer.run(lambda: call.service.tokens.revoke(call.id))
