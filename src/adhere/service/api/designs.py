"""Handlers that list the policies and check designs."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from msgspec import convert, to_builtins
from msgspec.structs import asdict

from adhere.design.checks import check
from adhere.design.design import Design
from adhere.design.design_file import design_document, load_design
from adhere.design.words import in_words
from adhere.policies.base.description import PolicyDescription, describe
from adhere.policies.base.registry import registry
from adhere.service.api.requests import NewTrial
from adhere.service.context import RequestContext
from adhere_client.responses import trials as responses
from adhere_client.responses.simulations import PolicyDetails, PolicyList, PolicyParameter
from adhere_client.responses.trials import CheckedDesign

_PROTOCOLS: Final = ("chosen", "actual", "comply")


async def list_policies(_context: RequestContext) -> PolicyList:
    """List the policies by name, with a description, parameters and requirements."""
    return PolicyList([_details(describe(cls)) for _, cls in sorted(registry.items())])


def _details(found: PolicyDescription) -> PolicyDetails:
    parameters = [convert(one._asdict(), PolicyParameter) for one in found.parameters]
    protocols = _PROTOCOLS if found.takes_protocol else ()
    return convert(found._asdict() | {"parameters": parameters, "protocols": protocols}, PolicyDetails)


async def check_design(context: RequestContext) -> CheckedDesign:
    """Check a design, given as its fields or as the text of its file, without creating a trial."""
    return await context.service.in_background(partial(_checked, context.body.design))


def _checked(given: NewTrial | str) -> CheckedDesign:
    design, _ = read_design(given)
    return CheckedDesign(
        design_response(design), design.digest, tuple(in_words(design)), check(design), design.to_toml()
    )


def design_response(design: Design) -> responses.Design:
    """Return a design as a response, with all its fields. Its parts omit fields with default values."""
    return convert(to_builtins(asdict(design)), responses.Design)


def read_design(given: NewTrial | str) -> tuple[Design, Any]:
    """Return the design in a request, and the scenarios in its file if there are any.

    Text is never read as the path of a file, because a client must not read files of this machine.
    """
    if isinstance(given, str):
        document: Mapping[str, Any] = design_document(given)
        return load_design(document), document.get("scenarios")
    return given.design(), None
