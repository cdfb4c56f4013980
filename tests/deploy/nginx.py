"""The real nginx with the site of deploy/, on free ports and with a certificate of its own."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programs import program
from service.crashing import free_port
from service.serving import Reply, wait_until
from service.test_tls_and_log_file import make_certificate

SITE = Path(__file__).parents[2] / "deploy" / "nginx-site.conf"
_CONFIGURATION = """
daemon off;
{user}
pid nginx.pid;
error_log error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include site.conf;
}}
"""


@dataclass(frozen=True)
class Nginx:
    """A running nginx."""

    port: int
    plain_port: int
    certificate: Path

    def send(self, method: str, path: str, body: Any = None, *, source: str = "127.0.0.1", **headers: str) -> Reply:
        """Send a request from an address of this machine."""
        trusting = ssl.create_default_context(cafile=self.certificate)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=trusting, timeout=30, source_address=(source, 0)
        )
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return _reply(connection, method, path, body, named)

    def send_plain(self, path: str) -> Reply:
        """Ask without TLS."""
        return _reply(http.client.HTTPConnection("127.0.0.1", self.plain_port, timeout=30), "GET", path, None, {})


def _reply(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any, headers: Mapping[str, str]
) -> Reply:
    try:
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, path, data, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


@contextmanager
def before(port: int, folder: Path) -> Iterator[Nginx]:
    """Run nginx before a service, with the changes to the site that an installation makes: ports and certificate."""
    nginx = program("nginx", "nginx-light")
    certificate, key = make_certificate(folder)
    plain, secure = free_port(), free_port()
    site = SITE.read_text()
    for shipped, here in (
        ("server 127.0.0.1:8000;", f"server 127.0.0.1:{port};"),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{secure} ssl;"),
        ("/etc/letsencrypt/live/trial.example.org/fullchain.pem", str(certificate)),
        ("/etc/letsencrypt/live/trial.example.org/privkey.pem", str(key)),
    ):
        assert site.count(shipped) == 1, shipped
        site = site.replace(shipped, here)
    (folder / "site.conf").write_text(site)
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(_CONFIGURATION.format(user=user))
    log = folder / "error.log"
    process = subprocess.Popen(
        [nginx, "-p", folder, "-e", log, "-c", "nginx.conf"], stderr=subprocess.PIPE, text=True
    )
    running = Nginx(secure, plain, certificate)
    try:
        wait_until(lambda: process.poll() is not None or _answers(running), 30)
        assert process.poll() is None, log.read_text()
        yield running
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _answers(nginx: Nginx) -> bool:
    try:
        return nginx.send("GET", "/").status == 404
    except OSError:
        return False
