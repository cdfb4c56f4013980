"""Whether it was a success, true or false, is a reward of 1 or 0: over HTTP, in the client, in a trial's rules."""

from __future__ import annotations

import pytest

from service.serving import Service


def test_true_and_false_are_rewards_of_1_and_0(service: Service) -> None:
    rule = {"after_days": 1, "reward": False}
    trial = service.new_trial(reward_values=(False, True), impute=rule)
    design = service.client().trial(trial)
    assert (design.reward_values, design.to_dict()["design"]["impute"]["reward"]) == ((0.0, 1.0), 0.0)
    site = service.client("site")
    made = [site.recommend(trial, subject).id for subject in ("S-1", "S-2")]
    path = f"/trials/{trial}/recommendations"
    said = service.send("POST", f"{path}/{made[0]}/reports", b'{"reward": true}', role="site", key="one")
    assert said.status == 201
    # The same under another spelling: the same request.
    again = service.send("POST", f"{path}/{made[0]}/reports", b'{"reward": 1}', role="site", key="one")
    assert (again.status, again.body) == (said.status, said.body)
    site.report(trial, made[1], actual="walk", reward=True)
    assert service.send("GET", f"{path}/{made[1]}").json["reward"] == 1.0
    site.correct(trial, made[1], "a slip", reward=False)
    for number, reward in zip(made, (1.0, 0.0), strict=True):
        found = service.send("GET", f"{path}/{number}").json["reward"]
        assert (type(found), found) == (float, reward)


def test_the_document_and_the_errors_say_so(service: Service) -> None:
    schemas = service.send("GET", "/openapi.json", role=None).json["components"]["schemas"]
    for body in ("NewReport", "NewCorrection"):
        reward = schemas[body]["properties"]["reward"]
        assert {"type": "boolean"} in reward["anyOf"]
    trial = service.new_trial()
    number = service.client("site").recommend(trial, "S-1").id
    said = service.send("POST", f"/trials/{trial}/recommendations/{number}/reports", {"reward": "yes"}, role="site")
    assert said.json["detail"] == "reward: got 'yes', expected a number from 0 to 1, true or false"
    with pytest.raises(ValueError, match="reward: got 2"):
        service.client("site").report(trial, number, reward=2)
