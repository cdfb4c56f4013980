"""The two trials of the demo: their designs, and the populations of their patients."""

from dataclasses import dataclass
from typing import Any, Final

from adhere.populations import Population, as_population

# The expectations of a design, for simulations; the demo plays days in seconds.
EXPECTED: Final = {
    "enrolment": {"per_day": 2.0, "random": True},
    "delay": {"days": 8.0, "distribution": "exponential"},
    "missing": {"outcome": {"rate": 0.07}},
}


@dataclass(frozen=True)
class DemoTrial:
    """A trial to be played: its design, as `POST /trials` accepts it, and its population."""

    name: str
    population_name: str
    arms: tuple[str, ...]  # as its sites call them, control first
    took_other: str  # what patients take who take none of the arms
    design: dict[str, Any]
    strata: tuple[str, ...] = ()
    n_patients: int = 10_000  # at the usual pace, the trial then lasts more than an hour

    @property
    def population(self) -> Population:
        """Population of the trial's patients."""
        return as_population(self.population_name)

    def fields(self) -> dict[str, Any]:
        """Return the fields of the request that creates the trial."""
        given = {"name": self.name, "arms": self.arms, "control": self.arms[0], "n_patients": self.n_patients}
        return given | {"strata": self.strata, "entries": "once"} | EXPECTED | self.design


# Aspirin does little (0.4 points in 14-day survival), and most patients comply, so the monitor stays calm.
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

# The rich take a harmful treatment whatever is recommended, and do well anyway. This policy learns from what was
# taken, so it recommends the treatment, and its looks are misled too. The intention-to-treat effect shows the
# opposite.
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
