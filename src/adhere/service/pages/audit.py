"""The page Audit: the log in words, its verification, the access log, and explanations of recommendations."""

from collections.abc import Mapping

from starlette.responses import Response

from adhere.service.pages.page_request import PageRequest
from adhere_client.responses.log import AccessPage, LogPage, Reproduction, Verification
from adhere_client.responses.recommendations import RecommendationDetails

_READS = "reads"  # the parameter for earlier reads


async def audit_page(page: PageRequest) -> Response:
    """Show the log, newest first, and the access log to admins."""
    asked: Mapping[str, str] = {name: page.query[name] for name in ("before", "after") if name in page.query}
    found: LogPage = await page.call("list_records", query=asked)
    reads: AccessPage | None = None
    if page.may("list_accesses"):
        reads = await page.call("list_accesses", query={"before": page.query.get(_READS, "0")})
    return page.render("audit.html", log=found, reads=reads)


async def verification_part(page: PageRequest) -> Response:
    """Verify now whether the chain is intact, and show the result."""
    found: Verification = await page.call("verify_log")
    return page.render("parts/verification.html", found=found)


async def why_page(page: PageRequest) -> Response:
    """Show one recommendation. Its derivation is added once it is computed."""
    found: RecommendationDetails = await page.call("show_recommendation")
    return page.render("why.html", made=found)


async def derivation_part(page: PageRequest) -> Response:
    """Show a recommendation derived again, the reasons for it, and the reports since then."""
    found: Reproduction = await page.call("derive_again")
    return page.render("parts/derivation.html", found=found)
