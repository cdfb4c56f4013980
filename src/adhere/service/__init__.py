"""Live trials over HTTP."""

from adhere.service.app import make_app
from adhere.service.context import ServiceSettings
from adhere.service.serve import serve

__all__ = ["ServiceSettings", "make_app", "serve"]
