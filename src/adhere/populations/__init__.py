"""Who answers a recommendation: strata, tables of counts, the paper's examples and the stroke trial."""

from adhere.populations.catalogue import as_population, built_in_populations
from adhere.populations.counts import Count, Counts
from adhere.populations.counts_file import read_counts
from adhere.populations.describe import describe, protocol_table_text
from adhere.populations.examples import corrective, defiers, homogeneous, rich_and_poor
from adhere.populations.population import CounterfactualPatients, PatientTables, Population
from adhere.populations.priors import RandomPrior, uniform_any, uniform_corrective, uniform_other
from adhere.populations.strata import ALWAYS_TAKER, COMPLIER, DEFIER, NEVER_TAKER, Reach, Strata, Stratum
from adhere.populations.strata_file import read_strata
from adhere.populations.stroke import StrokeCount, counts_from_published, stroke_aspirin, stroke_heparin

__all__ = [
    "ALWAYS_TAKER",
    "COMPLIER",
    "DEFIER",
    "NEVER_TAKER",
    "Count",
    "CounterfactualPatients",
    "Counts",
    "PatientTables",
    "Population",
    "RandomPrior",
    "Reach",
    "Strata",
    "Stratum",
    "StrokeCount",
    "as_population",
    "built_in_populations",
    "corrective",
    "counts_from_published",
    "defiers",
    "describe",
    "homogeneous",
    "protocol_table_text",
    "read_counts",
    "read_strata",
    "rich_and_poor",
    "stroke_aspirin",
    "stroke_heparin",
    "uniform_any",
    "uniform_corrective",
    "uniform_other",
]
