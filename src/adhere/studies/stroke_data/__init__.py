"""The stroke data itself: who was allocated what, who took what, and who was alive after 14 days.

There is nothing to simulate: every figure is counted from the table that ships with the package.
"""

from adhere.populations.stroke import SOURCE
from adhere.studies.framework.study import Study
from adhere.studies.stroke_data import claims, figures
from adhere.studies.stroke_data.tables import Facts, make_tables

STUDY = Study("stroke-data", "The stroke data itself", {}, make_tables, Facts, claims, figures, SOURCE)
