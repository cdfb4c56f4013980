"""What a simulated design did, in a table and a chart: nothing is hidden, and lines join what belongs together."""

from __future__ import annotations

from adhere.service.pages.new_trial.simulations import claims_by_effect, found_values
from adhere.service.pages.rendering import render
from adhere_client.responses.simulations import Characteristic, SimulatedScenario, Simulation


def scenario(effect: float, confounding: float, baseline: float = 0.5, **found: float) -> SimulatedScenario:
    characteristics = [Characteristic(name, mean, 0.01, mean, mean) for name, mean in found.items()]
    null = None if effect else "sharp"
    return SimulatedScenario(f"{effect}", null, effect, 0.7, confounding, [0.5, 0.5], characteristics, baseline)


def simulation(*scenarios: SimulatedScenario) -> Simulation:
    return Simulation(1, "done", 100, "0", scenarios=list(scenarios), report="not available")


def test_claims_of_the_opposite_are_shown() -> None:
    done = simulation(scenario(-0.1, 0.3, power=0.0, wrong_claim=0.778))
    page = render("new-trial/found.html", simulation=done, **found_values(done))
    assert '<td class="number">0.0% (1.0) <small class="quiet-text">power</small></td>' in page
    assert '<td class="number">77.8% (1.0)</td>' in page


def test_lines_join_scenarios_of_the_same_compliance_and_confounding() -> None:
    both = [scenario(effect, given, power=effect + given) for effect in (0.1, 0.2) for given in (0.0, 0.3)]
    claims = claims_by_effect(simulation(*both))
    found = {(row["among"], row["effect"]): row["claim"] for row in claims}
    without, with_it = "70% comply, confounding 0", "70% comply, confounding 0.3"
    assert found == {(without, 0.1): 0.1, (without, 0.2): 0.2, (with_it, 0.1): 0.4, (with_it, 0.2): 0.5}
    alone = claims_by_effect(simulation(*both[::2]))
    assert {row["among"] for row in alone} == {"70% comply"}


def test_lines_join_scenarios_of_the_same_baseline() -> None:
    every = [scenario(effect, 0.0, baseline, power=effect) for effect in (0.1, 0.2) for baseline in (0.3, 0.5)]
    claims = claims_by_effect(simulation(*every))
    assert {row["among"] for row in claims} == {
        "70% comply, baseline 0.3",
        "70% comply, baseline 0.5",
    }
