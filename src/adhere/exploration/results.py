"""Result of an exploration. Over HTTP it is sent as `adhere_client.responses.simulations.Exploration`."""

from msgspec import Struct

from adhere.exploration.presets import Settings
from adhere.exploration.protocol_beliefs import Belief, Truth
from adhere_client.responses.simulations import ExploredPolicy


class Exploration(Struct, frozen=True):
    """Result of an exploration: headline sentence, truth, beliefs, and results of policies at times `t`."""

    settings: Settings
    sentence: str
    truth: Truth
    beliefs: list[Belief]
    t: list[int]
    policies: list[ExploredPolicy]
