"""A database that is deleted or replaced under a running service: nothing more is acknowledged."""

from __future__ import annotations

import shutil
from pathlib import Path

from service.serving import in_file, wait_until


def test_a_replaced_database_is_never_acknowledged_on(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with in_file(path) as service:
        trial = service.new_trial()
        assert service.send("POST", f"/trials/{trial}/recommendations", {"subject": "1"}).status == 201
        assert service.send("GET", "/readyz").status == 200
        shutil.copy(path, tmp_path / "other.db")
        (tmp_path / "other.db").replace(path)
        for _ in range(2):
            reply = service.send("POST", f"/trials/{trial}/recommendations", {"subject": "2"})
            assert (reply.status, reply.json["type"]) == (503, "urn:adhere:problem:unavailable")
        assert service.send("POST", "/tokens", {"role": "admin", "label": "new"}).status == 503
        assert service.send("GET", f"/trials/{trial}").status == 503
        wait_until(lambda: service.send("GET", "/readyz").status == 503)
