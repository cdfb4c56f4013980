"""HTTPS by the service itself, and a log file that may be renamed."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from adhere.errors import InputError
from adhere.service.serve import serve
from adhere.service.settings import ServiceSettings
from programs import program
from service.serving import as_process, wait_until


def make_certificate(folder: Path, name: str = "127.0.0.1") -> tuple[Path, Path]:
    """A certificate that is its own authority, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = [
        program("openssl", "openssl"),
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    names = f"IP:{name}" if name[0].isdigit() else f"DNS:{name}"
    subject = ["-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName={names},DNS:localhost"]
    subprocess.run([*command, *subject, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


@pytest.mark.slow
def test_https_and_a_log_file_that_is_rotated(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    log, rotated = tmp_path / "adhere.log", tmp_path / "adhere.log.1"
    options = ("--tls-certificate", str(certificate), "--tls-key", str(key), "--log-file", str(log))
    with as_process(tmp_path / "trials.db", tmp_path, *options) as running:
        assert running.said[-1].startswith("Serving on https://127.0.0.1:")

        def ask() -> int:
            trusting = ssl.create_default_context(cafile=certificate)
            connection = http.client.HTTPSConnection("127.0.0.1", running.service.port, context=trusting, timeout=20)
            try:
                connection.request("GET", "/nothing")
                return connection.getresponse().status
            finally:
                connection.close()

        wait_until(lambda: ask() == 404, 30)
        log.rename(rotated)
        assert ask() == 404
        wait_until(log.exists)
        assert {json.loads(line)["status"] for line in log.read_text().splitlines()} == {404}
        assert rotated.read_text()
        assert running.errors.read_text() == ""


def test_wrong_files_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    (mine := tmp_path / "mine").mkdir()
    (other := tmp_path / "other").mkdir()
    certificate, key = map(str, make_certificate(mine))
    _, other_key = map(str, make_certificate(other))
    database = tmp_path / "trials.db"
    for wrong, says in (
        (
            {"tls_certificate": "none.pem", "tls_key": key},
            "tls_certificate: none.pem does not exist",
        ),
        (
            {"tls_certificate": certificate, "tls_key": "none.pem"},
            "tls_key: none.pem does not exist",
        ),
        ({"tls_certificate": certificate, "tls_key": other_key}, "tls_key: got .*, expected the key of "),
        ({"tls_certificate": key, "tls_key": key}, "tls_key: got .*, expected a key without a password"),
        ({"log_file": str(tmp_path / "none" / "a.log")}, "log_file: got .*, expected a file that can be written"),
    ):
        with pytest.raises(InputError, match=says):
            serve(replace(ServiceSettings(data=str(database)), **wrong))
    assert not database.exists()
