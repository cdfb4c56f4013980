"""Where kernels are kept, and that nothing that befalls them there costs a run."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numba import config
from numba.core.caching import IndexDataCacheFile

import adhere
from adhere import Uniform
from adhere.compilation import Kernel, classes_of
from adhere.compilation.storage import cache_folder, folder_of
from adhere.policies.base.policy import TrialShape

from .processes import RECOMMEND, SIMULATE, finish, kernels_in, run, start

RULE = Uniform().assemble(TrialShape(2)).rule


def twice(rule: Any, number: float) -> float:
    return float(rule.n_arms * number)


def hits(kernel: Kernel) -> int:
    """Compile the little function, call it, and say whether it came from disk."""
    compiled = kernel.compiled(RULE, 1.5)
    assert compiled(RULE, 1.5) == 3.0
    return sum(hit for one in kernel._dispatchers.values() for hit in one.stats.cache_hits.values())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty place for kernels, for this test only."""
    monkeypatch.setenv("ADHERE_CACHE_DIR", str(tmp_path / "kernels"))
    folder_of.cache_clear()
    yield tmp_path / "kernels"
    folder_of.cache_clear()


def test_a_kernel_is_compiled_once_and_then_comes_from_disk(cache: Path) -> None:
    first = Kernel(twice)
    assert not first.ready(RULE, 1.5)
    assert hits(first) == 0
    assert first.ready(RULE, 1.5)
    assert len(kernels_in(cache)) == 1
    second = Kernel(twice)
    assert second.ready(RULE, 1.5)
    assert hits(second) == 1


@pytest.mark.parametrize(("flag", "value"), [("BOUNDSCHECK", 1), ("DEBUGINFO_DEFAULT", 1), ("OPT", 0)])
def test_code_compiled_with_other_flags_is_other_code(
    cache: Path, monkeypatch: pytest.MonkeyPatch, flag: str, value: int
) -> None:
    hits(Kernel(twice))
    with monkeypatch.context() as debugging:
        debugging.setattr(config, flag, value)
        assert not Kernel(twice).ready(RULE, 1.5)
        assert hits(Kernel(twice)) == 0
        assert hits(Kernel(twice)) == 1
    assert len(kernels_in(cache)) == 2
    assert hits(Kernel(twice)) == 1


def test_with_compilation_switched_off_kernels_run_as_python(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    kernel = Kernel(twice)
    assert kernel.ready(RULE, 1.5)
    assert kernel.compiled(RULE, 1.5) is twice
    assert kernels_in(cache) == []


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("contents", [b"", b"\x80\x05garbage", b"half"], ids=["empty", "garbage", "half"])
def test_a_damaged_file_costs_a_compilation_not_a_crash(cache: Path, ending: str, contents: bytes) -> None:
    hits(Kernel(twice))
    for file in cache.rglob(f"*.{ending}"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if contents == b"half" else contents)
    assert hits(Kernel(twice)) == 0
    # What replaced the damaged file serves again.
    assert hits(Kernel(twice)) == 1


def test_code_that_cannot_be_written_is_run_from_memory(tmp_path: Path) -> None:
    """On a disk without room: no file may grow here, as none can there."""
    full = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\nimport adhere\n"
    out, _ = run(full + RECOMMEND.format(policy="uniform"), tmp_path / "kernels")
    assert out.startswith("arm")
    assert kernels_in(tmp_path / "kernels") == []
    assert list((tmp_path / "kernels").rglob("*.nbi")) == []


def test_an_index_never_names_code_that_was_not_written(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(IndexDataCacheFile, "_save_data", full)
        assert hits(Kernel(twice)) == 0
    assert list(cache.rglob("*.nbi")) == []
    assert hits(Kernel(twice)) == 0
    assert hits(Kernel(twice)) == 1


def test_a_want_of_descriptors_is_no_damage(cache: Path) -> None:
    hits(Kernel(twice))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    again = Kernel(twice)
    again._of(RULE, False)
    probe = os.open(os.devnull, os.O_RDONLY)
    os.close(probe)
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe, limits[1]))  # all that are open stay so
    try:
        with pytest.raises(OSError, match="Too many open files"):
            again.compiled(RULE, 1.5)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert hits(again) == 1


def test_a_folder_that_vanishes_costs_a_compilation_not_a_crash(cache: Path) -> None:
    hits(Kernel(twice))
    shutil.rmtree(cache)
    assert hits(Kernel(twice)) == 0


def test_the_folders_longest_unused_are_removed(cache: Path) -> None:
    for age in range(250):
        folder = cache / f"old {age:03d}"
        folder.mkdir(parents=True)
        os.utime(folder, (1_700_000_000 - age,) * 2)
    kept = cache_folder(frozenset(classes_of(RULE)), __name__)
    assert kept is not None
    left = {path.name for path in cache.iterdir()}
    assert kept.name in left
    assert len(left) == 192
    assert left - {kept.name} == {f"old {age:03d}" for age in range(191)}


def copy_package(to: Path) -> Path:
    source = Path(adhere.__file__).parent
    shutil.copytree(source, to / "adhere", ignore=shutil.ignore_patterns("__pycache__"))
    return to / "adhere"


@pytest.mark.slow
def test_an_installation_that_cannot_be_written_keeps_kernels_in_the_users_cache(tmp_path: Path) -> None:
    package, home = copy_package(tmp_path / "lib"), tmp_path / "home"
    (package / "__pycache__").write_text("a file, so that no folder can be made here, whoever runs this")
    script = "import adhere" + SIMULATE.format(policy="uniform") + "print(adhere.__file__)"
    variables = {"XDG_CACHE_HOME": str(home), "HOME": str(home)}
    out, err = run(script, None, package.parent, **variables)
    assert str(package) in out
    assert "compiling uniform" in err
    assert len(kernels_in(home / "adhere")) == 1
    _, err = run(script, None, package.parent, **variables)
    assert err == ""


@pytest.mark.slow
def test_an_edit_of_the_package_itself_is_noticed(tmp_path: Path) -> None:
    package, cache = copy_package(tmp_path / "lib"), tmp_path / "cache"
    script = "import adhere" + RECOMMEND.format(policy="uniform")
    file = package / "policies" / "learners" / "uniform.py"
    for arm in (0, 1):
        source = (Path(adhere.__file__).parent / "policies" / "learners" / "uniform.py").read_text()
        assert "return np.int64(uniform(rng) * rule.n_arms)" in source
        file.write_text(source.replace("return np.int64(uniform(rng) * rule.n_arms)", f"return {arm}"))
        assert run(script, cache, package.parent)[0] == f"arm {arm}"


@pytest.mark.slow
def test_processes_that_compile_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    script = "import adhere\nfrom adhere.simulation.execution.progress import Announcing\nfor name in {}:\n"
    script += "    result = adhere.simulate(name, 'rich-and-poor', 50, 20, progress=Announcing())\n"
    script += "    print(name, result[0].reward.mean)\n"
    orders = (["uniform", "ucb1"], ["ucb1", "uniform"])
    results = [finish(process) for process in [start(script.format(order), tmp_path) for order in orders]]
    assert {tuple(sorted(out.split("\n"))) for out, _ in results} == {tuple(sorted(results[0][0].split("\n")))}
    out, err = run(script.format(orders[0]), tmp_path)
    assert out == results[0][0]
    assert err == ""
