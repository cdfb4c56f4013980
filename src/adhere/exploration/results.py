"""The value that an exploration gives. Over HTTP it is sent as `adhere_client.responses.simulations.Exploration`."""

from msgspec import Struct

from adhere.exploration.presets import Settings
from adhere.exploration.protocol_beliefs import Belief, Truth
from adhere_client.responses.simulations import ExploredPolicy


class Exploration(Struct, frozen=True):
    """The sentence that says who is fooled, what is true and believed, and how policies fare at each of `t`."""

    settings: Settings
    sentence: str
    truth: Truth
    beliefs: list[Belief]
    t: list[int]
    policies: list[ExploredPolicy]
