"""A pretend year of the stroke unit trial: a live trial by its design, until a look recommends to stop.

python docs/examples/stroke_unit_year.py calibrated.toml stroke-unit.log
"""

import random
import sys
from datetime import UTC, datetime, timedelta

import adhere

design_file, log_file = sys.argv[1:]
design = adhere.load_design(design_file)
trial = adhere.Trial.from_design(design, seed=20261116)  # a live trial draws a secret instead
nature = random.Random(5)
begin = datetime(2026, 1, 1, 8, tzinfo=UTC)
due = {}  # by day: what is reported then

day = 0
while True:
    now = begin + timedelta(days=day)
    if trial.recommended_stop is None and day < design.n_patients:
        recommendation = trial.recommend(at=now)
        # One in ten is fitter and gets to the unit whatever we say, one in ten is weaker and never does.
        kind = nature.choices(["complier", "always", "never"], [8, 1, 1])[0]
        taken = {"complier": recommendation.arm, "always": "stroke unit", "never": "ward"}[kind]
        home = 0.5 + {"complier": 0.0, "always": 0.2, "never": -0.2}[kind] + 0.2 * (taken == "stroke unit")
        due[day + 30] = (recommendation.id, taken, nature.random() < home)
    if day in due:
        number, taken, went_home = due.pop(day)
        trial.report(number, actual=taken, reward=went_home, at=now + timedelta(hours=1))
    day += 1
    if not due:  # those who were under way when it stopped are followed up, too
        break

if trial.recommended_stop is not None:
    trial.close(
        f"{trial.recommended_stop.decision}, as look {trial.recommended_stop.look} found; confirmed by the board"
    )
trial.save(log_file)
print(trial)
