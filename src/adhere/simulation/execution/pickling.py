"""How policies and populations are pickled, to be sent to workers elsewhere."""

from __future__ import annotations

import pickle
from typing import Any

from adhere.errors import InputError
from adhere.policies import Policy, as_policy
from adhere.simulation.policy_name import name_of

LOADABLE = "policies that workers can load: of a file that leans on nothing beside it, or of modules they have too"


def pickled(field: str, name: str, thing: object) -> bytes:
    """The bytes of a user's object; who cannot be pickled is refused by this name."""
    try:
        import cloudpickle as pickler  # type: ignore[import-untyped]  # sends what a notebook defines, too
    except ImportError:
        pickler = pickle
    try:
        return bytes(pickler.dumps(thing))
    except Exception as error:  # pickling fails in many ways
        expected = f"one that can be pickled, to be sent to the executor's workers ({error})"
        raise InputError(field, name, expected) from None


def packed_policy(policy: object) -> Any:
    """A policy by its name and parameters; a plain object, pickled."""
    return policy.to_json() if isinstance(policy, Policy) else pickled("policies", name_of(policy), policy)


def unpacked_policy(packed: Any) -> object:
    """What `packed_policy` packed, on a worker."""
    try:
        return as_policy(packed) if isinstance(packed, dict) else pickle.loads(packed)
    except (ImportError, AttributeError) as error:
        raise InputError("policies", str(error), LOADABLE) from None
    except InputError as error:
        raise InputError("policies", f"a file: {error.expected}", LOADABLE) from None
