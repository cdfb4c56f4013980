"""Handler of `GET /static/{file}`."""

from __future__ import annotations

from starlette.responses import Response

from adhere.service.pages.page_request import PageRequest
from adhere.service.pages.static_files import static_file


async def static_page(page: PageRequest) -> Response:
    """A file that pages use."""
    return static_file(page.file, page.headers.get("accept-encoding", ""))
