"""Trials with something on every page: recommendations that wait, are reported, corrected, lost; looks; strata."""

from __future__ import annotations

from service.serving import Service

OPEN, BLINDED = "stroke-unit", "headache-blinded"
SECOND = 1  # the index of a recommendation of site A in each of them


def populate(service: Service) -> None:
    """An open trial with looks, a blinded one with strata, both with patients of two sites, and a rehearsal."""
    admin = service.client()
    admin.create_trial(
        OPEN,
        "thompson/actual",
        ("usual care", "stroke unit"),
        n_patients=40,
        control="usual care",
        looks={"at": [6]},
        stopping={"by": "posterior", "superiority": 0.999},
    )
    admin.create_trial(
        BLINDED, "burn-in(uniform, patients=4)", ("placebo", "verum"), n_patients=40, strata=STRATA, blinded=True
    )
    admin.create_trial("rehearsal", "uniform", ("a", "b"), rehearsal=True)
    for trial in (OPEN, BLINDED):
        _play(service, trial)


STRATA = ("under 60", "60 and over")


def _play(service: Service, trial: str) -> None:
    for number in range(10):
        client = service.client("site" if number % 3 else "other")
        stratum = STRATA[number % 2] if trial == BLINDED else None
        advice = client.recommend(trial, f"S-{number:03}", stratum=stratum)
        given = advice.kit or advice.arm
        if number == 3:
            client.report(trial, advice.id, took_nothing=True, reward=0)
        elif number == 4:
            client.report(trial, advice.id, actual=given)  # and the outcome is waited for
        elif number == 5:
            client.withdraw(trial, advice.id, "moved away")
        elif number == 6:
            client.mark_in_error(trial, advice.id, "tapped twice")
        elif number < 9:
            client.report(trial, advice.id, actual=given, reward=number % 2)
        if number == 7:
            client.correct(trial, advice.id, actual=given, reward=0, reason="typed in the wrong line")
