"""Live trials over HTTP."""

from adhere.service.app import make_app
from adhere.service.serve import serve
from adhere.service.settings import Settings

__all__ = ["Settings", "make_app", "serve"]
