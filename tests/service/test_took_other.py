"""What else was taken, in words: the words that count are those of the latest record that says so."""

from __future__ import annotations

from service.serving import ARMS, Service


def test_the_text_of_the_latest_correction_counts(service: Service) -> None:
    """Said again it is only acknowledged, and what it replaced is refused."""
    trial = service.new_trial()
    path = f"/trials/{trial}/recommendations/{service.client('site').recommend(trial, 'S-1').id}"

    def status(took_other: str) -> int:
        return service.send("POST", f"{path}/reports", {"took_other": took_other}, role="site").status

    def correct(**said: object) -> None:
        assert service.send("POST", f"{path}/corrections", {"reason": "misread", **said}, role="site").status == 201

    assert (status("tea"), status("tea"), status("rum")) == (201, 201, 409)
    correct(took_other="rum")
    assert (status("rum"), status("tea")) == (201, 409)
    correct(took_other="gin")
    assert (status("gin"), status("rum"), status("tea")) == (201, 409, 409)
    correct(actual=ARMS[0])
    assert status("gin") == 409
    correct(took_other="tea")
    assert (status("tea"), status("gin")) == (201, 409)
    correct(retract=["actual"])
    assert (status("rum"), status("rum"), status("tea")) == (201, 201, 409)
    history = service.client().recommendation(trial, service.ids(trial)[0]).to_dict()["derivation"]["history"]
    assert [line["event"] for line in history if line["event"] == "reported"] == ["reported"] * 2


def test_words_about_an_erased_person_are_taken_and_not_kept(service: Service) -> None:
    trial = service.new_trial()
    path = f"/trials/{trial}/recommendations/{service.client('site').recommend(trial, 'PERSON1').id}"
    assert service.send("POST", f"/trials/{trial}/erasures", {"subject": "PERSON1", "site": "A"}).status == 201
    report, correction = {"took_other": "WORDS", "reward": 1}, {"took_other": "MORE WORDS", "reason": "misread"}
    positions = []
    for key in ("first", "first", "second"):
        assert service.send("POST", f"{path}/reports", report, role="site", key=key).status == 201
        positions.append(service.client().trial(trial).records)
    assert positions == [4, 4, 5]
    assert service.send("POST", f"{path}/corrections", correction, role="site").status == 201
    table = service.send("GET", f"/trials/{trial}/export?format=csv").body
    assert b"OTHER" in table
    kept = [table, service.send("GET", f"/trials/{trial}/export?format=log").body]
    kept += [service.send("GET", path).body, service.send("GET", path, role="site").body]
    assert not any(b"WORDS" in body for body in kept)
    assert service.send("POST", f"/trials/{trial}/erasures", {"subject": "PERSON1", "site": "A"}).status == 404
