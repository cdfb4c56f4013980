"""What a run of studies says while it compiles, where there is no terminal."""

from __future__ import annotations

import pytest

from adhere.studies.framework.progress import StudiesProgress


@pytest.mark.parametrize(
    ("n_all", "said"),
    [
        (3, ["compiled 1 of 3 policies", "compiled 2 of 3 policies", "compiled 3 of 3 policies"]),
        (41, [f"compiled {n} of 41 policies" for n in (11, 21, 31, 41)]),
    ],
)
def test_compiling_is_announced_and_counted(capsys: pytest.CaptureFixture[str], n_all: int, said: list[str]) -> None:
    progress = StudiesProgress()
    for n_compiled in range(n_all + 1):
        progress.compiled(n_compiled, n_all)
    first, *others = capsys.readouterr().err.splitlines()
    assert first == f"compiling {n_all} policies (once; then they are cached on disk)"
    assert others == said
