from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import polars
import pytest

from adhere.populations import stroke_aspirin, stroke_heparin
from adhere.populations.stroke import SOURCE
from adhere.report.section import AGREES, DIFFERS, IN_PART
from adhere.report.style import figure_file
from adhere.studies.stroke_data.study import COMPLIANCE_UNKNOWN, RANDOMISED, STUDY, survival_by_view
from studies.sections import check_texts_are_whole, prose

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "ist.csv.gz"
POPULATIONS = {"aspirin": stroke_aspirin(), "heparin": stroke_heparin()}


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, polars.DataFrame]:
    """The study's tables as a report meets them: written and read again."""
    read = {}
    for name, table in STUDY.tables({}).items():
        table.write_parquet(tmp_path / f"{name}.parquet")
        read[name] = polars.read_parquet(tmp_path / f"{name}.parquet")
    return read


def with_counts(tables: dict[str, polars.DataFrame], **survived: list[int]) -> dict[str, polars.DataFrame]:
    """The tables as if others had survived: a number for each row of the trial's counts."""
    parts = []
    for (trial,), rows in tables["counts"].group_by("trial", maintain_order=True):
        alive = polars.Series(survived.get(str(trial), rows["survived"].to_list()))
        parts.append(rows.with_columns(survived=alive, died=rows["patients"] - alive))
    counts = polars.concat(parts)
    return {**tables, "counts": counts, "survival": survival_by_view(counts, "none")}


def test_there_is_nothing_to_simulate() -> None:
    assert STUDY.experiments(True) == STUDY.experiments(False) == {}


def test_counts(tables: dict[str, polars.DataFrame]) -> None:
    counts = tables["counts"]
    assert counts.columns == ["trial", "allocated", "taken", "survived", "died", "patients"]
    assert counts.row(2) == ("aspirin", "aspirin", "none", 678, 106, 784)
    assert counts.group_by("trial").agg(polars.col("patients").sum())["patients"].to_list() == [19_422] * 2


def test_compliance(tables: dict[str, polars.DataFrame]) -> None:
    for row in tables["compliance"].to_dicts():
        population = POPULATIONS[row["trial"]]
        arm = population.arms.index(row["allocated"])
        assert row["patients"] == population.patients_per_arm()[row["allocated"]]
        assert row["share"] == pytest.approx(population.compliance()[arm, arm])
        assert row["share_low"] < row["share"] < row["share_high"]
    assert tables["compliance"].height == 5


def test_survival_by_hand(tables: dict[str, polars.DataFrame]) -> None:
    rows = {row[:3]: row[3:5] for row in tables["survival"].rows()}
    assert rows["aspirin", "chosen", "aspirin"] == (784 + 8928, 678 + 8163)
    assert rows["aspirin", "actual", "aspirin"] == (143 + 8928, 135 + 8163)
    assert rows["aspirin", "comply", "aspirin"] == (8928, 8163)
    assert rows["heparin", "actual", "none"] == (9667 + 408 + 611, 8766 + 365 + 550)
    assert rows["heparin", "actual", "low"] == (44 + 4450, 41 + 4069)
    assert len(rows) == 3 * (2 + 3)


def test_survival_is_what_the_populations_have(tables: dict[str, polars.DataFrame]) -> None:
    for trial, population in POPULATIONS.items():
        survival = tables["survival"].filter(trial=trial)
        np.testing.assert_allclose(survival.filter(view="chosen")["share"], population.mean_given_chosen())
        np.testing.assert_allclose(survival.filter(view="comply")["share"], population.mean_given_both().diagonal())


def test_differences_from_none(tables: dict[str, polars.DataFrame]) -> None:
    for (_, _), rows in tables["survival"].group_by("trial", "view"):
        reference, *others = rows.to_dicts()
        assert reference["arm"] == "none"
        assert reference["difference"] is reference["difference_low"] is None
        for row in others:
            assert row["difference"] == pytest.approx(row["share"] - reference["share"])
            # Chance alone, by the plain normal approximation; in groups this large the two nearly agree.
            se = np.sqrt(sum(one["share"] * (1 - one["share"]) / one["patients"] for one in (row, reference)))
            assert row["difference_low"] == pytest.approx(row["difference"] - 1.96 * se, abs=3e-4)
            assert row["difference_high"] == pytest.approx(row["difference"] + 1.96 * se, abs=3e-4)


def test_the_flow_adds_up(tables: dict[str, polars.DataFrame]) -> None:
    flow = tables["flow"]
    randomised, left_out, analysed = flow["patients"][:3]
    assert (randomised, left_out, analysed) == (19_435, 13, 19_422)
    assert randomised - left_out == analysed
    for trial in POPULATIONS:
        boxes = flow.filter(trial=trial)
        for step in ("allocated", "taken"):
            assert boxes.filter(step=step)["patients"].sum() == analysed
        for row in boxes.filter(step="allocated").to_dicts():
            assert boxes.filter(step="taken", allocated=row["allocated"])["patients"].sum() == row["patients"]


def test_facts_about_the_published_file() -> None:
    if not PUBLISHED.exists():
        pytest.skip("the full International Stroke Trial file is not beside the repository (shared/data)")
    with gzip.open(PUBLISHED, "rt", encoding="utf-8", errors="replace", newline="") as file:
        patients = list(csv.DictReader(file))
    unknown = [one for one in patients if not (one["CMPLASP"].strip() and one["CMPLHEP"].strip())]
    assert len(patients) == RANDOMISED
    assert len(unknown) == COMPLIANCE_UNKNOWN
    assert {(one["CMPLASP"].strip(), one["CMPLHEP"].strip()) for one in unknown} == {("", "")}  # as the study says


def test_the_section(tables: dict[str, polars.DataFrame]) -> None:
    section = STUDY.render(tables)
    assert (section.name, section.title) == ("stroke-data", "The stroke data itself")
    assert section.credits == SOURCE
    assert section.question.endswith("?")
    check_texts_are_whole(section)
    for said in ("19,435", "13 are left out", "91.0%", "90.6%", "+0.39", "+1.21", "86.5%", "+0.58"):
        assert said in prose(section)
    assert "+0.39 percentage points, which chance could explain; as treated it looks like +1.21" in section.result
    assert "+0.39 [-0.42, +1.21]" in section.claims[1].ours
    assert "9 differences" in section.uncertainty
    assert [claim.verdict for claim in section.claims] == [AGREES, IN_PART, AGREES]
    assert "intervals allow -1.02 to +1.55 percentage points" in section.claims[2].ours
    assert [len(listing.rows) for listing in section.listings] == [12, 5, 15]
    for listing in section.listings:
        assert {len(row) for row in listing.rows} == {len(listing.header)}
    assert list(section.listings[0].rows[4]) == ["aspirin", "all", "all", "17,642", "1,780", "19,422"]


def test_the_section_follows_the_tables(tables: dict[str, polars.DataFrame]) -> None:
    section = STUDY.render(with_counts(tables, aspirin=[4000, 135, 678, 8163]))
    assert f"{(4000 + 135) / 9710:.1%} of those allocated none" in prose(section)
    assert "which chance hardly explains" in section.result
    assert "set the two drugs apart" not in prose(section)


@pytest.mark.parametrize(
    ("survived", "verdict"),
    [([8666, 135, 678, 8163], IN_PART), ([8400, 135, 678, 8163], AGREES), ([8800, 135, 678, 8163], DIFFERS)],
)
def test_the_verdict_on_aspirin(tables: dict[str, polars.DataFrame], survived: list[int], verdict: str) -> None:
    assert STUDY.render(with_counts(tables, aspirin=survived)).claims[1].verdict == verdict


@pytest.mark.parametrize(
    ("low", "medium", "verdict"), [(4069, 3851, AGREES), (4300, 3851, IN_PART), (4300, 3500, DIFFERS)]
)
def test_the_verdict_on_heparin(tables: dict[str, polars.DataFrame], low: int, medium: int, verdict: str) -> None:
    changed = with_counts(tables, heparin=[8766, 41, 365, low, 550, medium])
    assert STUDY.render(changed).claims[2].verdict == verdict


def test_the_verdict_on_the_number_of_patients(tables: dict[str, polars.DataFrame]) -> None:
    changed = {**tables, "flow": tables["flow"].with_columns(polars.col("patients").replace(19_422, 19_421))}
    claim = STUDY.render(changed).claims[0]
    assert (claim.ours, claim.verdict) == ("19,421", DIFFERS)


def test_the_survival_chart(tables: dict[str, polars.DataFrame]) -> None:
    chart, flow = STUDY.render(tables).figures
    assert (flow.name, chart.name) == ("stroke-flow", "stroke-survival")
    above, below = chart.draw().subfigs
    arms = [text.get_text() for text in below.legends[0].get_texts()]
    assert arms == ["none", "aspirin", "low", "medium", "no difference from none (zero)"]
    for panel, name in zip(above.axes, ("share", "difference"), strict=True):
        seen = {round(float(x), 9) for line in panel.get_lines() for x in np.atleast_1d(np.asarray(line.get_xdata()))}
        for column in (name, f"{name}_low", f"{name}_high"):  # dots, and the caps of their intervals
            assert {round(100 * value, 9) for value in tables["survival"][column].drop_nulls()} <= seen
    labels = [text.get_text() for text in above.axes[0].texts]
    assert labels[:3] == ["Chosen (intention-to-treat)", "aspirin trial: none", "aspirin trial: aspirin"]
    assert len(labels) == 3 * (1 + 5)


@pytest.mark.parametrize("number", [0, 1])
def test_the_same_figure_is_the_same_file(tables: dict[str, polars.DataFrame], number: int) -> None:
    figure = STUDY.render(tables).figures[number]
    assert figure_file(figure.draw(), ".png") == figure_file(figure.draw(), ".png")


def test_the_flow_chart_has_every_number(tables: dict[str, polars.DataFrame]) -> None:
    figure = STUDY.render(tables).figures[1].draw()
    said = [" ".join(text.get_text().split()) for text in figure.axes[0].texts]
    randomised, left_out, analysed, *rest = tables["flow"].to_dicts()
    numbers = [f"{row['patients']:,}" for row in (randomised, left_out, analysed)]
    assert f"randomised: {numbers[0]}; analysed: {numbers[2]}" in said
    assert f"left out: {numbers[1]} (compliance unknown)" in said
    for row in rest:
        if row["step"] == "allocated":
            assert f"{row['trial']} trial, allocated {row['allocated']}: {row['patients']:,}" in said
        else:
            assert any(one.startswith(f"took {row['taken']}: {row['patients']:,} (") for one in said)
