"""`adhere serve` where a library cannot be imported: one that is missing, or one that the machine cannot load now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from adhere.service.starting import LATER

IMPORTING = """if True:
    import sys
    from adhere.cli.main import main

    class Refusing:
        def find_spec(self, name, path=None, target=None):
            if name == "uvicorn":
                raise error

    sys.meta_path.insert(0, Refusing())
    for error in (
        ImportError("libllvmlite.so: failed to map segment from shared object"),
        OSError("Could not find/load shared object file 'libllvmlite.so'\\nfrom its place"),
        MemoryError(),
        NameError("name 'PySelector' is not defined"),
    ):
        print(main(["serve", "--port", "0"]), flush=True)
    sys.modules["uvicorn"] = None  # as if it were not installed
    print(main(["serve", "--port", "0"]), flush=True)
"""


def test_only_a_missing_library_is_for_a_person_to_mend(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTING], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert ended.stdout.split() == [str(LATER)] * 4 + ["2"], ended.stderr
    said = ended.stderr.splitlines()
    assert len(said) == 5, ended.stderr
    assert all("perhaps for lack of memory" in one for one in said[:4])
    assert "needs the service extra" in said[4]
