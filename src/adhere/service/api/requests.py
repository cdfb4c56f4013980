"""Types of the request bodies. Unknown fields are refused."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import asdict, force_setattr

from adhere.access.tokens import MAX_OVERLAP, Role
from adhere.checks import MAX_COUNT, MAX_NAME_LENGTH, MAX_TEXT_LENGTH
from adhere.design.design import Design
from adhere.design.make_design import make_design
from adhere.errors import InputError

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_LENGTH)]
Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=MAX_TEXT_LENGTH)]
Reward: TypeAlias = bool | Annotated[float, Meta(ge=0.0, le=1.0)]  # true means 1, false means 0
# JavaScript rounds large integers, so large seeds are strings. `seed_of` checks both kinds with the same message.
Seed: TypeAlias = (
    Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": MAX_COUNT - 1})]
    | Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9]{1,20}$"}, examples=["18446744073709551615"])]
)
Part: TypeAlias = Literal["actual", "reward", "withdrawal"]
Actual: TypeAlias = Annotated[Name | None, Meta(description="The arm taken; in a blinded trial, sites name the kit.")]
TookNothing: TypeAlias = Annotated[bool, Meta(description="None of the arms was taken.")]
TookOther: TypeAlias = Annotated[Text | None, Meta(description="A description of something else that was taken.")]


OfSubject: TypeAlias = Annotated[
    Name | None, Meta(description="The request is refused unless the recommendation is this subject's. Optional.")
]


class Body(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The base class of all request bodies."""


class RewardBody(Body, frozen=True, kw_only=True):
    """A body with a reward. Booleans become numbers, so that equal rewards have equal digests."""

    reward: Annotated[Reward | None, Meta(description="From 0 to 1; true is 1 and false 0.")] = None

    def __post_init__(self) -> None:
        if self.reward is True or self.reward is False:
            force_setattr(self, "reward", float(self.reward))


class NewTrial(Design, frozen=True, kw_only=True):
    """A trial's design, with a seed if it is a rehearsal. Any other trial draws its own secret."""

    reward_values: Annotated[
        tuple[Reward, ...], Meta(description="Every reward that can occur; only policies that recycle need it.")
    ] = (0.0, 1.0)
    seed: Annotated[
        Seed | None,
        Meta(description="Only for rehearsals, so that they can be repeated. A string if 2**53 or more."),
    ] = None

    def design(self) -> Design:
        """Return the design if it is valid; otherwise raise an `InputError` that names the field."""
        fields = asdict(self)
        del fields["seed"]
        return make_design(**fields)


AnyDesign: TypeAlias = Annotated[
    NewTrial | str, Meta(description="The fields of a trial, or the text of a design's file in TOML or JSON.")
]


class GivenDesign(Body, frozen=True, kw_only=True):
    """A design to check. No trial is created."""

    design: AnyDesign


class ScenarioTable(Body, frozen=True, kw_only=True):
    """A grid of scenarios: every effect at every baseline, compliance and confounding, and two null scenarios for
    each of these combinations.
    """

    baseline: Annotated[
        float | tuple[float, ...], Meta(description="The mean outcome of compliers, or several values.")
    ] = 0.5
    effect: Annotated[
        tuple[float | dict[str, float], ...],
        Meta(description="The effect of taking the treatment, or of each named arm."),
    ] = ()
    compliance: Annotated[
        tuple[float, ...], Meta(description="The share of patients who take the recommended arm.")
    ] = (1.0,)
    confounding: Annotated[
        tuple[float, ...],
        Meta(description="The difference in mean outcome for patients who always take the same arm."),
    ] = (0.0,)
    average_null: Annotated[
        float | None, Meta(description="The effect that half of compliers gain and half lose under the average null.")
    ] = None


class NewSimulation(Body, frozen=True, kw_only=True):
    """A design to simulate, and the scenarios (default: the scenarios of its file, or a default grid)."""

    design: AnyDesign
    scenarios: ScenarioTable | None = None
    n_trials: Annotated[int, Meta(ge=1, le=100_000, description="Trials simulated in each scenario.")] = 2_000
    seed: Annotated[Seed, Meta(description="The same seed gives the same numbers.")] = 0


def seed_of(given: int | str | None) -> int | None:
    """Return the seed in a request: a string, or a number that is small enough for every JSON parser."""
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) <= 20 and int(given) < 2**64:
        return int(given)
    if given is None or (isinstance(given, int) and 0 <= given < MAX_COUNT):
        return given
    expected = "as a string if it is 2**53 or more (JavaScript would round the number)"
    raise InputError("seed", given, f"a whole number from 0 to 2**64 - 1, {expected}")


class NewRecommendation(Body, frozen=True, kw_only=True):
    """The subject to recommend an arm for, identified by the site's pseudonym."""

    subject: Name
    stratum: Annotated[Name | None, Meta(description="One of the design's strata, if it has any.")] = None
    site: Annotated[
        Name | None,
        Meta(description="The site that an admin enters the subject for; required if the trial has sites."),
    ] = None
    again: Annotated[
        bool, Meta(description="Confirms a second entry of the subject, if the design's entries are ask.")
    ] = False
    refuse_alike: Annotated[
        bool,
        Meta(
            description="Refuse a new subject whose code looks like that of another subject of the site (O and 0, "
            "I, l and 1, blanks, capital letters); the answer has the recommendation_id of that subject."
        ),
    ] = False


class NewReport(RewardBody, frozen=True, kw_only=True):
    """A report of the treatment taken (an arm or kit, nothing, or something else), the reward, or both."""

    actual: Actual = None
    took_nothing: TookNothing = False
    took_other: TookOther = None
    happened: Annotated[
        datetime | None,
        Meta(description="The time of the reported events, with its time zone (default: now)."),
    ] = None
    subject: OfSubject = None


class NewCorrection(RewardBody, frozen=True, kw_only=True):
    """New values that replace reported ones. Items in retract then count as never reported."""

    reason: Text
    actual: Actual = None
    took_nothing: TookNothing = False
    took_other: TookOther = None
    retract: Annotated[
        tuple[Part, ...],
        Meta(description="Items that then count as never reported. After a withdrawal, reports are awaited again."),
    ] = ()
    subject: OfSubject = None


class Reason(Body, frozen=True, kw_only=True):
    """The reason of a change."""

    reason: Text


class Mark(Reason, frozen=True, kw_only=True):
    """The reason why a recommendation is withdrawn or was entered in error, and its subject."""

    subject: OfSubject = None


class Ending(Reason, frozen=True, kw_only=True):
    """The reason for ending a trial, and whether missing reports are given up."""

    accept_open: Annotated[
        bool, Meta(description="End the trial although reports are awaited. They can never be recorded then.")
    ] = False


class NewUnblinding(Body, frozen=True, kw_only=True):
    """The kit to unblind, and the reason. A site may unblind its own kits and kits that its subjects have taken."""

    kit: Name
    reason: Text
    recommendation_id: Annotated[
        Name | None,
        Meta(description="For a site that unblinds another kit: the recommendation whose subject took it."),
    ] = None


class NewErasure(Body, frozen=True, kw_only=True):
    """A subject's pseudonym, and the site that uses it (none for a subject without a site)."""

    subject: Name
    site: Name | None = None


class Rotation(Body, frozen=True, kw_only=True):
    """The time for which the old token stays valid, and the end of the new token (default: the old token's end)."""

    overlap_seconds: Annotated[int, Meta(ge=0, le=MAX_OVERLAP.days * 86_400)] = 0
    expires_at: datetime | None = None


class NewToken(Body, frozen=True, kw_only=True):
    """A new token: its role, site (role site only) and, optionally, its only trial and its end."""

    role: Role
    label: Annotated[Name, Meta(description="The holder's name for the list of tokens.")]
    site: Annotated[Name | None, Meta(description="The name of the site, for the role site only.")] = None
    new_site: Annotated[
        bool, Meta(description="Confirms a new site with a name that looks like an existing site's name.")
    ] = False
    trial: Annotated[Name | None, Meta(description="The only trial that the token is for.")] = None
    expires_at: Annotated[datetime | None, Meta(description="The end of the token, with the time zone.")] = None


class NewLink(Body, frozen=True, kw_only=True):
    """The time for which a one-time link to sign in is valid."""

    minutes: Annotated[int, Meta(ge=1, le=7 * 1440, description="Minutes until an unused link expires.")] = 60


# An acceptable body of each kind, for the documentation.
EXAMPLES: Final[Mapping[type[Struct], Mapping[str, Any]]] = {
    NewTrial: {"name": "headache", "policy": "thompson", "arms": ["walk", "aspirin"]},
    GivenDesign: {"design": {"name": "headache", "policy": "thompson", "arms": ["walk", "aspirin"]}},
    NewSimulation: {
        "design": {"name": "headache", "policy": "thompson", "arms": ["walk", "aspirin"], "n_patients": 200},
        "scenarios": {"effect": [0.2], "compliance": [0.8]},
        "n_trials": 1000,
    },
    NewRecommendation: {"subject": "S-001"},
    NewReport: {"actual": "aspirin", "reward": 1},
    NewCorrection: {"reason": "typing error", "reward": 0},
    Reason: {"reason": "planned"},
    Ending: {"reason": "as planned"},
    Mark: {"reason": "moved away"},
    NewUnblinding: {"kit": "4K7T-9QXA", "reason": "adverse event"},
    NewErasure: {"subject": "S-001", "site": "Leeds"},
    Rotation: {"overlap_seconds": 3600},
    NewLink: {"minutes": 60},
    NewToken: {"role": "site", "site": "Leeds", "label": "Leeds, ward 3"},
}
