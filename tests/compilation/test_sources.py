"""Code older than its source never runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import adhere
from adhere.compilation.sources import _own_sources

from .processes import IMPORT_AND_RECOMMEND, RECOMMEND, SIMULATE, kernels_in, run, write_fixed


def test_an_edited_policy_runs_as_it_now_is(tmp_path: Path) -> None:
    file, cache = tmp_path / "mine.py", tmp_path / "cache"
    script = IMPORT_AND_RECOMMEND.format(path=str(file), policy="fixed")
    kept: list[int] = []
    for arm in ("0", "1", "0"):
        write_fixed(file, arm=arm)
        assert run(script, cache)[0] == f"arm {arm}"
        kept.append(len(kernels_in(cache)))
    assert kept == [kept[0], 2 * kept[0], 2 * kept[0]]  # the first version is still kept


@pytest.mark.parametrize(
    ("before", "after", "call"),
    [
        ("ARM = 0\n", "ARM = 1\n", "arms.ARM"),
        (
            "from adhere.compilation import inline\n\n@inline\ndef pick(rule):\n    return 0\n",
            "from adhere.compilation import inline\n\n@inline\ndef pick(rule):\n    return 1\n",
            "arms.pick(rule)",
        ),
    ],
    ids=["constant", "function"],
)
def test_an_edited_module_that_the_policy_leans_on_counts_too(
    tmp_path: Path, before: str, after: str, call: str
) -> None:
    file, module, cache = tmp_path / "mine.py", tmp_path / "arms.py", tmp_path / "cache"
    script = IMPORT_AND_RECOMMEND.format(path=str(file), policy="fixed")
    write_fixed(file, arm=call, imports="import arms")
    module.write_text(before)
    assert run(script, cache, tmp_path)[0] == "arm 0"
    module.write_text(after)
    assert run(script, cache, tmp_path)[0] == "arm 1"


def test_an_edit_while_a_process_runs_is_not_mixed_up_with_the_code_it_runs(tmp_path: Path) -> None:
    """What was imported before the edit is compiled after it, and must not be kept as the new version."""
    file, cache = tmp_path / "mine.py", tmp_path / "cache"
    write_fixed(file, arm="0")
    edit = f"\nfrom pathlib import Path\npath = Path({str(file)!r})\n"
    edit += "path.write_text(path.read_text().replace('return 0', 'return 1'))\n"
    script = f"import adhere\nadhere.import_policies({str(file)!r})" + edit + RECOMMEND.format(policy="fixed")
    assert run(script, cache)[0] == "arm 0"
    assert run(IMPORT_AND_RECOMMEND.format(path=str(file), policy="fixed"), cache)[0] == "arm 1"


def test_a_module_reloaded_after_an_edit_runs_as_it_now_is(tmp_path: Path) -> None:
    """As notebooks do it, with importlib.reload or %autoreload."""
    file, cache = tmp_path / "mine.py", tmp_path / "cache"
    write_fixed(file, arm="0")
    once = RECOMMEND.format(policy="fixed")
    edit = f"\nfrom pathlib import Path\npath = Path({str(file)!r})\n"
    edit += "path.write_text(path.read_text().replace('return 0', 'return 1'))\nimportlib.reload(mine)\n"
    out, _ = run("import importlib, adhere, mine\n" + once + edit + once, cache, tmp_path)
    assert out.split("\n") == ["arm 0", "arm 1"]


def test_a_class_typed_in_runs_uncached_and_says_so(tmp_path: Path) -> None:
    file, cache = tmp_path / "mine.py", tmp_path / "cache"
    write_fixed(file, arm="1")
    out, err = run("import adhere\n" + file.read_text() + SIMULATE.format(policy="fixed"), cache)
    assert out == "arm 1.0"
    assert "UserWarning: fixed is compiled anew each time: its code is not in a file of its own" in err
    assert kernels_in(cache) == []


def test_every_file_that_compiled_code_comes_from_names_its_folder() -> None:
    """Otherwise an edit of it would run as it was before."""
    compiles = re.compile(r"^@(no_)?inline\b|\b(Gpu)?Kernel\(\w+", re.MULTILINE)
    package = Path(adhere.__file__).parent
    found = {file for file in package.rglob("*.py") if compiles.search(file.read_text())}
    assert package / "analysis" / "adaptive" / "confidence_sequence_kernel.py" in found
    assert found <= _own_sources()
