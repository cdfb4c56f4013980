"""Responses about recommendations and the reports on them."""

from datetime import datetime
from typing import Annotated

from adhere_client.responses import Response, about


class Recorded(Response, frozen=True):
    """The time when a command was recorded, and its recommendation.

    Sites do not receive the position in the log, because a gap would reveal that something else was recorded.
    """

    at: datetime
    record: int | None = None
    recommendation_id: str | None = None


class OfRecommendation(Response, frozen=True):
    """The base class of responses about one recommendation, with its ID."""

    recommendation_id: str

    @property
    def id(self) -> str:
        """Return the recommendation's ID, for use in other calls of a client."""
        return self.recommendation_id


class IssuedRecommendation(OfRecommendation, frozen=True):
    """A recommendation: its ID, and the arm or, in a blinded trial, the kit.

    If the recommendation was made earlier for another stratum, the time and stratum of that entry are included.
    """

    arm: str | None = None
    kit: str | None = None
    entered_at: datetime | None = None
    stratum: str | None = None


class Unblinding(OfRecommendation, frozen=True):
    """The arm in a kit, and when its disclosure was recorded. `repeated` means that a request with the same ID was
    answered before.
    """

    arm: str
    kit: str
    at: datetime
    repeated: bool = False


class ListedRecommendation(OfRecommendation, frozen=True):
    """A recommendation in a list. Its state is waiting, complete, lost to follow-up or entered in error."""

    site: str
    at: datetime
    state: str
    missing: Annotated[tuple[str, ...], about("The missing parts of the report, if one is awaited.")] = ()
    stratum: str | None = None
    subject: Annotated[str | None, about("The pseudonym. Shown only to its site and admins.")] = None
    arm: Annotated[str | None, about("Shown only to its site and admins, and not in a blinded trial.")] = None
    kit: Annotated[str | None, about("Shown only to its site and admins, in a blinded trial.")] = None


class WaitingPage(Response, frozen=True):
    """One page of the recommendations that await a report, oldest first."""

    waiting: list[ListedRecommendation]
    total: int
    next: Annotated[str | None, about("The value of after for more, if there are more.")] = None


class RecommendationList(Response, frozen=True):
    """The recommendations of a subject, in order. The list is empty if the subject is unknown or of another site."""

    recommendations: list[ListedRecommendation]
    alike: Annotated[
        tuple[ListedRecommendation, ...],
        about(
            "For a new code, the latest recommendations of subjects with codes that look like it "
            "(O and 0, I, l and 1, blanks, capital letters)."
        ),
    ] = ()


class RecordedLine(Response, frozen=True):
    """One record about a recommendation: reported, corrected, withdrawn, entered-in-error or unblinded."""

    event: str
    at: datetime
    by: Annotated[str, about("The label of the token. Sites see the role instead, except for themselves.")]
    took: Annotated[str | None, about("arm, kit, nothing or other")] = None
    actual: Annotated[str | None, about("The arm. In a blinded trial, sites see the reported kit instead.")] = None
    took_other: Annotated[str | None, about("The description of something else, unless it was erased.")] = None
    kit: Annotated[str | None, about("The kit that was reported or unblinded.")] = None
    reward: float | None = None
    happened: datetime | None = None
    retract: tuple[str, ...] = ()
    reason: Annotated[str | None, about("In a blinded trial, a site sees only its own reasons.")] = None


class HistoryLine(Response, frozen=True):
    """One record about a recommendation, with its position in the log."""

    record: int
    event: str
    at: datetime
    by: str
    actual: str | None = None
    reward: float | None = None
    happened: datetime | None = None
    retract: tuple[str, ...] = ()
    reason: str | None = None


class Derivation(Response, frozen=True):
    """The inputs and outputs of a recommendation, from which it can be derived again."""

    arm: str
    subject: Annotated[str, about("The key that replaces the subject's pseudonym in the log.")]
    site: str
    probabilities: dict[str, float]
    memo: tuple[float, ...]
    learned_up_to: Annotated[int, about("The last record that the policy had learned from.")]
    estimated: bool
    algorithm_version: str
    software: str
    history: list[HistoryLine]
    kit: str | None = None
    fallback: Annotated[str | None, about("The reason why all arms had equal probabilities.")] = None
    imputed: Annotated[tuple[str, ...], about("The imputed parts of the report.")] = ()


class RecommendationDetails(OfRecommendation, frozen=True):
    """A recommendation and its reports. The field took is arm, kit, nothing or other."""

    at: datetime
    open: bool
    withdrawn: bool
    in_error: Annotated[bool, about("Whether it was entered in error.")] = False
    arm: str | None = None
    kit: str | None = None
    took: str | None = None
    actual: Annotated[str | None, about("The arm. In a blinded trial, sites see the reported kit instead.")] = None
    took_other: Annotated[str | None, about("The description of something else, unless it was erased.")] = None
    reward: float | None = None
    stratum: str | None = None
    recorded: Annotated[
        tuple[RecordedLine, ...],
        about("Later records. A site sees its own records and those of admins."),
    ] = ()
    derivation: Annotated[Derivation | None, about("Not shown to sites.")] = None
