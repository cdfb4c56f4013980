"""Models of patients: compliance types, tables of counts, the paper's examples and the stroke trial."""

from adhere.populations.catalogue import PopulationLike as PopulationLike
from adhere.populations.catalogue import as_population as as_population
from adhere.populations.catalogue import built_in_populations as built_in_populations
from adhere.populations.catalogue import records_of as records_of
from adhere.populations.compliance_types import ComplianceType as ComplianceType
from adhere.populations.compliance_types import ComplianceTypes as ComplianceTypes
from adhere.populations.counts import Count as Count
from adhere.populations.counts import Counts as Counts
from adhere.populations.describe import describe as describe
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
from adhere.populations.records import records_json as records_json
from adhere.populations.stroke import stroke_aspirin as stroke_aspirin
from adhere.populations.stroke import stroke_heparin as stroke_heparin
