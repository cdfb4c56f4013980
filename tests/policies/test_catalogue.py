from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import adhere
from adhere import InputError, import_policies, parse_policy
from adhere.policies.base.registry import lookup, registry

DECLARATION = '''
from adhere.policies import Learner, choose, implements, learn, policy

@policy("{name}")
class Declared(Learner):
    """For tests."""
'''


def write(folder: Path, name: str, file: str = "mine.py", more: str = "") -> Path:
    path = folder / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(DECLARATION.format(name=name) + more)
    return path


@pytest.fixture(autouse=True)
def _forget_what_a_test_declares() -> Iterator[None]:
    before = dict(registry)
    yield
    registry.clear()
    registry.update(before)


def test_every_name_of_the_paper_is_known() -> None:
    names = {"uniform", "epsilon-greedy", "ucb1", "thompson", "base-thompson", "exp3"}
    names |= {"hierarchical", "thompson-bounded", "hierarchical-exp3"}
    assert names <= set(registry)
    assert all(lookup(name).name == name for name in names)


def test_importing_a_file_declares_its_policies(tmp_path: Path) -> None:
    module = import_policies(write(tmp_path, "declared-here"))
    assert type(parse_policy("declared-here")) is module.Declared


def test_importing_twice_is_importing_once(tmp_path: Path) -> None:
    path = write(tmp_path, "declared-once")
    assert import_policies(path) is import_policies(str(path))


def test_files_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a", "of-file-a"), write(tmp_path / "b", "of-file-b")
    assert import_policies(one) is not import_policies(other)
    assert type(parse_policy("of-file-a")) is not type(parse_policy("of-file-b"))


@pytest.mark.parametrize("path", ["no-such-file.py", "", ".", "folder.py", "text.txt"])
def test_only_python_files_are_imported(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "text.txt").write_text("")
    with pytest.raises(InputError, match=r"does not exist$|is not a Python file \(\.py\)$"):
        import_policies(tmp_path / path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 / 0", "line 1: ZeroDivisionError"),
        ("import no_such_module_anywhere", "line 1: ModuleNotFoundError"),
        ("def broken(:", "line 1: SyntaxError"),
        ("\0", "line 1: "),
        ("raise SystemExit(0)", "line 1: SystemExit"),
    ],
)
def test_a_file_that_does_not_run_is_refused_and_may_be_mended(tmp_path: Path, source: str, message: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(source)
    with pytest.raises(InputError, match=message) as error:
        import_policies(path)
    assert len(str(error.value).splitlines()) == 1
    write(tmp_path, "mended", file="broken.py")
    import_policies(path)
    assert str(parse_policy("mended")) == "mended"


@pytest.mark.parametrize("missing", ["choose", "learn"])
def test_a_policy_without_its_functions_is_refused_when_it_is_to_run(tmp_path: Path, missing: str) -> None:
    present = {"choose": "learn", "learn": "choose"}[missing]
    arguments = {"choose": "weight, rng", "learn": "arm, reward, weight, rng"}[present]
    more = f"\n@implements({present}, Declared)\ndef present(rule, state, memo, {arguments}):\n    return 0\n"
    import_policies(write(tmp_path, f"without-{missing}", more=more))
    with pytest.raises(InputError, match=rf"policy without-{missing}: got 'no {missing}', expected .*@implements"):
        adhere.Trial(f"without-{missing}", ("a", "b"))


@pytest.mark.parametrize("name", ["My Policy", "Softmax2", "", "a(b", "2fast", "true", "-x", "x-", "π", "inf", "nan"])
def test_a_name_that_could_not_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        import_policies(write(tmp_path, name))


def test_a_built_in_name_cannot_be_taken(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        import_policies(write(tmp_path, "thompson"))
