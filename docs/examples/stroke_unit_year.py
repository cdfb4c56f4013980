"""A pretend year of the stroke unit trial, run as a live trial by its design, until a look says to stop.

python docs/examples/stroke_unit_year.py calibrated.toml stroke-unit.log
"""

import random
import sys
from datetime import UTC, datetime, timedelta

import adhere

design_file, log_file = sys.argv[1:]
design = adhere.load_design(design_file)
trial = adhere.Trial.from_design(design, seed=20261116)  # a real trial draws a seed that nobody can guess
nature = random.Random(1)
begin = datetime(2026, 1, 1, 8, tzinfo=UTC)
due = {}  # day: recommendations whose outcome is reported then

day = 0
while trial.recommended_stop is None and (day < design.n_patients or due):
    now = begin + timedelta(days=day)
    if day < design.n_patients:
        recommendation = trial.recommend(at=now)
        # One in ten always goes to the unit and is fitter, one in ten never does and is weaker.
        kind = nature.choices(["complier", "always", "never"], [8, 1, 1])[0]
        taken = {"complier": recommendation.arm, "always": "stroke unit", "never": "ward"}[kind]
        home = 0.5 + {"complier": 0.0, "always": 0.2, "never": -0.2}[kind] + 0.2 * (taken == "stroke unit")
        due.setdefault(day + 30, []).append((recommendation.id, taken, nature.random() < home))
    for id, taken, went_home in due.pop(day, []):
        trial.report(id, actual=taken, reward=went_home, at=now + timedelta(hours=1))
    day += 1

for look in trial.looks:
    print(look)
if trial.recommended_stop is not None:
    trial.close("superior, as the look recommended; confirmed by the monitoring board")
trial.save(log_file)
print(trial)
