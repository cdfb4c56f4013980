"""Who answers a recommendation: strata, tables of counts, the paper's examples and the stroke trial."""

from adhere.populations.catalogue import as_population as as_population
from adhere.populations.catalogue import built_in_populations as built_in_populations
from adhere.populations.catalogue import records_of as records_of
from adhere.populations.counts import Count as Count
from adhere.populations.counts import Counts as Counts
from adhere.populations.describe import describe as describe
from adhere.populations.describe_records import describe_records as describe_records
from adhere.populations.estimates import records_json as records_json
from adhere.populations.examples import corrective as corrective
from adhere.populations.examples import defiers as defiers
from adhere.populations.examples import homogeneous as homogeneous
from adhere.populations.examples import rich_and_poor as rich_and_poor
from adhere.populations.population import PatientTables as PatientTables
from adhere.populations.population import Population as Population
from adhere.populations.priors import uniform_any as uniform_any
from adhere.populations.priors import uniform_corrective as uniform_corrective
from adhere.populations.priors import uniform_other as uniform_other
from adhere.populations.records import Records as Records
from adhere.populations.strata import Strata as Strata
from adhere.populations.stratum import ALWAYS_TAKER as ALWAYS_TAKER
from adhere.populations.stratum import COMPLIER as COMPLIER
from adhere.populations.stratum import DEFIER as DEFIER
from adhere.populations.stratum import NEVER_TAKER as NEVER_TAKER
from adhere.populations.stratum import Stratum as Stratum
from adhere.populations.stroke import stroke_aspirin as stroke_aspirin
from adhere.populations.stroke import stroke_heparin as stroke_heparin
