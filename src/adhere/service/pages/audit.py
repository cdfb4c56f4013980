"""Audit: the log in words, whether its chain is whole, who read what; and why a recommendation came out as it did."""

from collections.abc import Mapping

from starlette.responses import Response

from adhere.service.pages.page_request import PageRequest
from adhere_client.responses.log import AccessPage, LogPage, Reproduction, Verification
from adhere_client.responses.recommendations import RecommendationDetails

_READS = "reads"  # the parameter that leads to earlier reads


async def audit_page(page: PageRequest) -> Response:
    """The log, newest first, and for admins who read what."""
    asked: Mapping[str, str] = {name: page.query[name] for name in ("before", "after") if name in page.query}
    found: LogPage = await page.call("list_records", query=asked)
    reads: AccessPage | None = None
    if page.may("list_accesses"):
        reads = await page.call("list_accesses", query={"before": page.query.get(_READS, "0")})
    return page.render("audit.html", log=found, reads=reads)


async def verification_part(page: PageRequest) -> Response:
    """Whether the chain is whole, verified now."""
    found: Verification = await page.call("verify_log")
    return page.render("parts/verification.html", found=found)


async def why_page(page: PageRequest) -> Response:
    """One recommendation; how it is derived again follows once it is."""
    found: RecommendationDetails = await page.call("show_recommendation")
    return page.render("why.html", made=found)


async def derivation_part(page: PageRequest) -> Response:
    """A recommendation derived again, why it came out so, and what was reported since."""
    found: Reproduction = await page.call("derive_again")
    return page.render("parts/derivation.html", found=found)
