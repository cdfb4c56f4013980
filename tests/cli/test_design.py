"""`adhere design`: from an example to a calibrated design that was simulated and compared."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars
import pytest

from adhere.cli.design.options import design_text
from adhere.design.design_file import load_design
from adhere.evaluation.scenarios.scenarios import scenario_table

from .running import check_complaint, in_this_process

TRIAL = """
name = "headache"
arms = ["walk", "aspirin"]
policy = "thompson"
n_patients = 100

[looks]
at = [50]

[stopping]
by = "posterior"
superiority = 0.9
inferiority = "1 - superiority"

[scenarios]
effect = [0.3]
compliance = [1.0]
"""
FEW = ("--trials", "500", "--threads", "2")


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "trial.toml"
    path.write_text(TRIAL)
    return path


def test_the_example_is_a_design_that_is_described(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = in_this_process(capsys, "design", "example")
    Path("mine.toml").write_text(printed.out)
    described = in_this_process(capsys, "design", "describe", "mine.toml")
    assert (described.status, described.err) == (0, "")
    assert "aspirin" in described.out
    assert described.out.endswith(f"\ndigest {load_design(Path('mine.toml')).digest}\n")
    assert "\nThe file also has 8 scenarios to simulate it in.\n" in described.out
    Path("mine.toml").write_text(printed.out.replace("effect =", "efect ="))
    check_complaint(in_this_process(capsys, "design", "describe", "mine.toml"), "unknown field 'efect'", "effect")
    assert "adhere design calibrate" in in_this_process(capsys, "design").out


def test_lines_of_the_example_that_are_commented_out_are_valid_without_the_hash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = in_this_process(capsys, "design", "example").out
    commented = re.findall(r"^# (\w+) = .*$", printed, re.MULTILINE)
    assert {"blinded", "outcome_words", "strata", "impute"} <= set(commented)
    usual = load_design(printed)
    for names in (*([name] for name in commented), commented):
        text = re.sub(rf"^# (?=(?:{'|'.join(names)}) = )", "", printed, flags=re.MULTILINE)
        made = load_design(text)
        for name in names:
            assert getattr(made, name) != getattr(usual, name), name
        file = tmp_path / "mine.toml"
        file.write_text(text)
        described = in_this_process(capsys, "design", "describe", str(file))
        assert (described.status, described.err) == (0, "")


@pytest.mark.slow
def test_calibrated_sized_and_run(trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--type-one", "0.2", "--seed", "1", *FEW, "--out", "calibrated.toml", "--json", "found.json")
    finished = in_this_process(capsys, "design", "calibrate", "trial.toml", *arguments)
    assert finished.status == 0
    found = json.loads(Path("found.json").read_text())
    assert f"stopping.superiority = {found['value']:.6g}\n" in finished.out
    assert "worst type I error 0." in finished.err
    calibrated = load_design(Path("calibrated.toml"))
    assert calibrated.stopping is not None
    assert calibrated.stopping.superiority == found["value"]
    assert found["design_digest"] == calibrated.digest
    assert set(found["nulls"]) == {"sharp null, compliance 100%", "average null, compliance 100%"}
    assert "[scenarios]\neffect = [0.3]\n" in Path("calibrated.toml").read_text()  # and goes on with them

    sized = in_this_process(
        capsys, "design", "size", "calibrated.toml", "--power", "0.8", *FEW, "--out", "sized.json", "--json", "-"
    )
    assert sized.status == 0
    assert json.loads(sized.out)["n_patients"] == load_design(Path("sized.json")).n_patients
    assert ": power 0." in sized.err

    outputs = ("--table", "all.csv", "--html", "report.html", "--json", "all.json")
    run = in_this_process(capsys, "design", "run", "sized.json", *FEW, *outputs)
    assert run.status == 0
    assert "effect 0.3, compliance 100%" in run.out
    assert set(polars.read_csv("all.csv")["scenario"]) == set(found["nulls"]) | {"effect 0.3, compliance 100%"}
    assert "adhere design run sized.json --trials 500 --seed 0" in Path("report.html").read_text()
    assert json.loads(Path("all.json").read_text())["n_trials"] == 500


def test_what_is_not_confirmed_is_not_written(trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A script that goes on with the file must not go on."""
    arguments = ("--trials", "200", "--type-one", "0.2", "--seed", "0", "--out", "found.toml", "--json", "a.json")
    finished = in_this_process(capsys, *CALIBRATE, "--conservative", *arguments)
    assert finished.status == 1
    assert "Not confirmed to be at most 0.2" in finished.out
    assert finished.err.endswith("found.toml is not written: not confirmed\n")
    assert not Path("found.toml").exists()
    assert json.loads(Path("a.json").read_text())["confirmed"] is False


def test_scenarios_go_along_with_a_design_that_is_written(trial: Path) -> None:
    trial.write_text(TRIAL.replace("[0.3]", '[0.3, { walk = -0.1, "aspirin" = 0.2 }]'))
    Path("again.toml").write_text(design_text(load_design(trial), trial, ".toml"))
    assert load_design(Path("again.toml")) == load_design(trial)
    assert scenario_table(Path("again.toml")) == scenario_table(trial)


def test_designs_are_compared(trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("strict.toml").write_text(TRIAL.replace("headache", "strict").replace("0.9", "0.99"))
    finished = in_this_process(capsys, "design", "compare", "trial.toml", "strict.toml", *FEW)
    assert finished.status == 0
    assert "strict" in finished.out
    check_complaint(in_this_process(capsys, "design", "compare", "trial.toml"), "at least two designs")
    check_complaint(in_this_process(capsys, "design", "compare", "trial.toml", "trial.toml"), "each file once")
    Path("same.toml").write_text(TRIAL)
    check_complaint(
        in_this_process(capsys, "design", "compare", "trial.toml", "same.toml"),
        "trial.toml and same.toml both have the name 'headache'; give each its own name",
    )


RUN = ("design", "run", "trial.toml")
CALIBRATE = ("design", "calibrate", "trial.toml")
SIZE = ("design", "size", "trial.toml")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("design", "run", "nowhere.toml"), "nowhere.toml does not exist"),
        ((*RUN, "--trials", "0"), "--trials: got 0"),
        ((*RUN, "--table", "all.xlsx"), "--table: got 'all.xlsx', expected a file ending in .csv or .parquet"),
        ((*RUN, "--json", "a.csv", "--table", "a.csv"), "--table: got 'a.csv', expected another file than --json"),
        ((*RUN, "--html", "nowhere/a.html"), "--html: nowhere/a.html cannot be written"),
        ((*RUN, "--scenarios", "nowhere.csv"), "nowhere.csv"),
        ((*RUN, "--device", "gpu"), "--device: got 'gpu', expected cpu or cuda"),
        ((*RUN, "--cluster", "tcp://127.0.0.1:1", "--threads", "1"), "--threads: got 1"),
        ((*CALIBRATE, "--type-one", "0.6"), "--type-one: got 0.6"),
        ((*CALIBRATE, "--type-one", "x"), "--type-one: got 'x', expected a number"),
        ((*CALIBRATE, "--number", "stopping.alpha2"), "--number: got 'stopping.alpha2'"),
        ((*CALIBRATE, "--between", "0.9", "0.8"), "--between: got (0.9, 0.8), expected two numbers"),
        ((*CALIBRATE, "--out", "trial.txt"), "--out: got 'trial.txt', expected a file ending in .toml or .json"),
        (
            (*CALIBRATE, "--out", "a.json", "--json", "a.json"),
            "--out: got 'a.json', expected another file than --json",
        ),
        (
            (*RUN, "--html", "trial.toml"),
            "--html: got 'trial.toml', expected another file than trial.toml, which is read",
        ),
        ((*RUN, "--json", "../{folder}/trial.toml"), "expected another file than trial.toml, which is read"),
        ((*CALIBRATE, "--out", "trial.toml"), "--out: got 'trial.toml', expected another file than trial.toml"),
        (
            (*CALIBRATE, "--trials", "300", "--type-one", "0.0001"),
            "--trials: got 300, expected at least 100,000, so that about 10 of them err",
        ),
        (
            (*CALIBRATE, "--trials", "300", "--type-one", "0.0001", "--conservative"),
            "--trials: got 300, expected at least 36,887 to show",
        ),
        ((*SIZE, "--power", "0.2"), "--power: got 0.2"),
        ((*SIZE, "--scenario", "effect 0.4"), "--scenario: got 'effect 0.4'"),
    ],
)
def test_what_cannot_be_done_is_said(
    trial: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    arguments = tuple(one.format(folder=trial.parent.name) for one in arguments)
    check_complaint(in_this_process(capsys, *arguments), says)
    assert [path.name for path in trial.parent.iterdir()] == ["trial.toml"]
    assert trial.read_text() == TRIAL


def test_no_output_replaces_what_is_read(trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other designs, scenarios, the populations that these name, and policies; by another name or a link, too."""
    grid, people, other, linked = (Path(name) for name in ("grid.toml", "people.csv", "other.toml", "linked.csv"))
    grid.write_text('[scenarios]\npopulations = ["people.csv"]\n')
    people.write_text("chosen,actual,reward\n")
    other.write_text(TRIAL.replace("headache", "other"))
    linked.hardlink_to(people)
    reading = ("trial.toml", "--scenarios", "grid.toml")
    for arguments, kept in (
        (("compare", "trial.toml", "other.toml", "--json", "other.toml"), other),
        (("run", *reading, "--html", "grid.toml"), grid),
        (("run", *reading, "--table", "linked.csv"), people),
        (("size", *reading, "--out", "grid.toml"), grid),
    ):
        before = kept.read_bytes()
        check_complaint(in_this_process(capsys, "design", *arguments), f"expected another file than {kept}, which is")
        assert kept.read_bytes() == before
