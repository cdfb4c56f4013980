"""The sites of a trial, and the one that a subject is entered for.

A trial has sites once a token of role site is for this trial only, or a subject was entered for a site. From then on
nobody enters a subject for no site. Tokens for all trials do not count by themselves: beside the trials of those
sites there may be one without sites, which an application runs with an admin's token. The page asks for a site as
soon as there is one that may use the trial.
"""

from __future__ import annotations

from adhere.errors import InputError, nearest
from adhere.service.api.responses import SiteList
from adhere.service.api.route import SITE
from adhere.service.context import RequestContext, reading
from adhere.store import ReadTransaction
from adhere.store.subjects import sites_of


@reading
def list_sites(context: RequestContext, view: ReadTransaction) -> SiteList:
    """List the sites that may use a trial, or entered subjects, and whether a subject must be entered for one."""
    return _sites(context, view)


async def check_site(context: RequestContext, site: str) -> None:
    """Refuse to enter a subject for a site that is not one of the trial's, or not that of the token."""
    if context.holder.role == SITE:
        raise InputError("site", site, "none, or the site of the token")
    known = (await context.service.read(lambda view: _sites(context, view))).sites
    if site not in known:
        none = "no site: this trial has none; make a token of role site first"
        raise InputError("site", site, nearest(site, known) if known else none)


def _sites(context: RequestContext, view: ReadTransaction) -> SiteList:
    service, trial = context.service, context.trial
    entered = {site for site in sites_of(view, service.processor.trial(trial).number) if site}
    own, shared = service.tokens.sites(trial), service.tokens.sites(None)
    return SiteList(sorted(entered | own | shared), required=bool(entered | own))
