"""The two trials of the demo: their designs, and the populations that their patients come from."""

from dataclasses import dataclass
from typing import Any, Final

from adhere.populations import Population, as_population

# What a design says of reports, for simulations; the demo plays days in seconds.
EXPECTED: Final = {
    "enrolment": {"per_day": 2.0, "random": True},
    "delay": {"days": 8.0, "distribution": "exponential"},
    "missing": {"outcome": {"rate": 0.07}},
}


@dataclass(frozen=True)
class DemoTrial:
    """A trial to be played: its design, as `POST /trials` takes it, and who its patients are."""

    name: str
    population_name: str
    arms: tuple[str, ...]  # as its sites call them, the control first
    took_other: str  # what those take who take none of the arms
    design: dict[str, Any]
    strata: tuple[str, ...] = ()
    n_patients: int = 10_000  # with which a trial lasts longer than an hour at the usual pace

    @property
    def population(self) -> Population:
        """The population that its patients come from."""
        return as_population(self.population_name)

    def fields(self) -> dict[str, Any]:
        """The fields of the request that creates it."""
        given = {"name": self.name, "arms": self.arms, "control": self.arms[0], "n_patients": self.n_patients}
        return given | {"strata": self.strata, "entries": "once"} | EXPECTED | self.design


# Aspirin does little (0.4 points in 14-day survival), and most patients comply: what a calm monitor looks like.
STROKE: Final = DemoTrial(
    "stroke",
    "stroke-aspirin",
    arms=("no aspirin", "aspirin"),
    took_other="clopidogrel",
    strata=("under 75", "75 and over"),
    design={
        "outcome_words": {"died within 14 days": 0, "alive after 14 days": 1},
        "policy": "burn-in(floor(thompson, share=0.2), patients=60)",
        "looks": {"every": 250},
        "stopping": {"by": "z-test", "boundary": "obrien-fleming", "alpha": 0.05},
    },
)

# The rich take a harmful treatment whatever they are told, and do well anyway. This policy believes what was taken:
# it recommends the treatment, and its looks are as misled as it is. The intention-to-treat effect says the opposite.
RICH_AND_POOR: Final = DemoTrial(
    "rich-and-poor",
    "rich-and-poor",
    arms=("control", "treatment"),
    took_other="a remedy of their own",
    design={
        "outcome_words": {"did badly": 0, "did well": 1},
        "policy": "floor(thompson/actual, share=0.1)",
        "looks": {"every": 100},
        "stopping": {"by": "belief", "superiority": 0.95},
    },
)

TRIALS: Final = (STROKE, RICH_AND_POOR)
