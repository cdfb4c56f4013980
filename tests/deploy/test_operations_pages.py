"""The pages for operators, run as they stand, one after another on one machine of real programs.

The paths of the pages lead below a temporary folder, and its ports to free ones. systemctl is a supervisor that
follows the installed unit, sudo runs the command as the user of the tests, and pip links this checkout.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from deploy.supervisor import Rules, Supervisor
from programs import program
from service.crashing import free_port
from service.serving import wait_until
from service.test_tls_and_log_file import make_certificate
from store.postgres_proxy import PostgresProxy
from store.postgres_server import PostgresServer
from store.postgres_server import program as postgres_program
from website.pages import DOCS, MACHINE_PAGES, blocks, written_pages

HERE = Path(__file__).parents[2]
MONITORING = DOCS / "how-to" / "monitor-the-service.md"
RECOVERY = DOCS / "how-to" / "recover.md"
INLINE = re.compile(r"`((?:sudo -u adhere /opt/adhere/bin/)?adhere (?:trial|token|serve)\b[^`]*)`")
FOLDERS = ("/var/lib/adhere", "/etc/adhere", "/etc/prometheus", "/etc/systemd/system", "/etc/nginx", "/opt/adhere")
NGINX = """
daemon off;
{user}
pid {root}/nginx.pid;
error_log {root}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {root}/body;
    proxy_temp_path {root}/proxy;
    fastcgi_temp_path {root}/fastcgi;
    uwsgi_temp_path {root}/uwsgi;
    scgi_temp_path {root}/scgi;
    include {root}/etc/nginx/sites-enabled/*;
}}
"""
PIP = f"""#!/bin/sh
for given in "$@"; do
  case "$given" in
    install|--upgrade) ;;
    *) test -f "${{given%%\\[*}}/pyproject.toml" || {{ echo "no project: $given" >&2; exit 1; }} ;;
  esac
done
printf '#!/bin/sh\\nexec {sys.executable} -m adhere "$@"\\n' > "$(dirname "$0")/adhere"
chmod 755 "$(dirname "$0")/adhere"
"""
CLIENT = """
import socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({address!r})
    connection.sendall(" ".join(sys.argv[1:]).encode() + b"\\n")
    sys.exit(connection.makefile().read() or None)
"""


class Machine:
    """A folder in the place of a machine, with programs in the place of its own."""

    def __init__(self, root: Path, stack: ExitStack) -> None:
        self.root, self._stack = root, stack
        self.port, self.secure, self.plain = free_port(), free_port(), free_port()
        self.certificate, self._key = make_certificate(root, "trial.example.org")
        self.commands: list[str] = []
        self.service: Supervisor | None = None
        self._nginx: subprocess.Popen[bytes] | None = None
        for folder in ("bin", "etc/nginx/sites-enabled", "etc/systemd/system", "var/lib", "opt"):
            (root / folder).mkdir(parents=True)
        self._make_programs()
        shutil.copytree(HERE / "deploy", root / "deploy")
        for file in (root / "deploy").iterdir():
            file.write_text(self.rewritten(file.read_text()))

    def rewritten(self, text: str) -> str:
        """Let paths and ports lead to this machine."""
        for folder in FOLDERS:
            text = text.replace(folder, f"{self.root}{folder}")
        text = text.replace("/path/to/adhere", str(HERE))
        text = text.replace("--retry 30", "--retry 120")  # other tests may keep the machine busy
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}").replace("port = 8000", f"port = {self.port}")
        text = text.replace("listen 80;", f"listen 127.0.0.1:{self.plain};")
        text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{self.secure} ssl;")
        live = "/etc/letsencrypt/live/trial.example.org/"
        return text.replace(f"{live}fullchain.pem", str(self.certificate)).replace(
            f"{live}privkey.pem", str(self._key)
        )

    def environment(self) -> dict[str, str]:
        """The environment of the operator's shell."""
        (self.root / ".curlrc").write_text(
            f'cacert = "{self.certificate}"\nconnect-to = "trial.example.org:443:127.0.0.1:{self.secure}"\n'
        )
        path = f"{self.root}/bin:{Path(postgres_program('psql')).parent}:{os.environ['PATH']}:/usr/sbin"
        return {**os.environ, "PATH": path, "CURL_HOME": str(self.root)}

    def _make_programs(self) -> None:
        (self.root / "nginx.conf").write_text(
            NGINX.format(root=self.root, user="user root;" if os.getuid() == 0 else "")
        )
        nginx = f"{program('nginx', 'nginx-light')} -e {self.root}/error.log -c {self.root}/nginx.conf"
        self._nginx_command = shlex.split(nginx)
        address = str(self.root / "systemd.socket")
        server = socketserver.ThreadingUnixStreamServer(address, self._handler())
        self._stack.callback(server.server_close)
        self._stack.callback(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        python = f"#!{sys.executable}\n"
        programs = {
            "systemctl": python + CLIENT.format(address=address),
            "useradd": "#!/bin/sh\ntest $# = 6\n",  # this machine gets no user
            "sudo": '#!/bin/sh\ntest "$1" = -u || exit 1\nshift 2\nexec "$@"\n',
            "nginx": f'#!/bin/sh\nexec {nginx} "$@"\n',
            "python3": f'#!/bin/sh\ntest "$1 $2" = "-m venv" || exit 1\nmkdir -p "$3/bin"\n'
            f'cp {self.root}/bin/pip "$3/bin/pip"\n',
            "pip": PIP,
        }
        for name, text in programs.items():
            (self.root / "bin" / name).write_text(text)
            (self.root / "bin" / name).chmod(0o755)

    def _handler(self) -> type[socketserver.StreamRequestHandler]:
        machine = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                try:
                    machine.control(self.rfile.readline().decode().split())
                except Exception as error:  # the command fails with this sentence
                    self.wfile.write(f"{type(error).__name__}: {error}".encode())

        return Handler

    def control(self, words: list[str]) -> None:
        """Do what systemctl would."""
        self.commands.append(" ".join(words))
        unit = self.root / "etc/systemd/system/adhere.service"
        match words:
            case ["daemon-reload"]:
                assert unit.exists()
            case ["enable", "--now", "adhere"] | ["start", "adhere"]:
                self._start(unit)
            case ["stop", "adhere"]:
                self.stop()
            case ["restart", "adhere"]:
                self.stop()
                self._start(unit)
            case ["reload", "nginx"]:
                self._reload_nginx()
            case _:
                raise AssertionError(f"systemctl {' '.join(words)}")

    def _start(self, unit: Path) -> None:
        state, rules = self.root / "var/lib/adhere", Rules.read(unit)
        state.mkdir(exist_ok=True)  # StateDirectory
        assert rules.command == (f"{self.root}/opt/adhere/bin/adhere", "serve")
        given = {"%d": f"{self.root}/etc/adhere", "%C": f"{self.root}/cache", "%S": f"{self.root}/var/lib"}
        variables = {}
        for name, value in rules.environment.items():
            variables[name] = re.sub("%.", lambda found: given[found[0]], value)
        self.service = Supervisor(self.root / "journal", variables, rules=rules, command=rules.command, cwd=state)
        self.service.start()

    def _reload_nginx(self) -> None:
        if self._nginx is None:  # Debian starts it when it is installed
            self._nginx = subprocess.Popen(self._nginx_command, stderr=subprocess.DEVNULL)
        else:
            self._nginx.send_signal(signal.SIGHUP)

    def stop(self) -> None:
        if self.service is not None:
            self.service.stop()
            assert self.service.codes == [0], self.service.log

    def close(self) -> None:
        if self.service is not None:
            self.service.stop()
        if self._nginx is not None:
            self._nginx.terminate()
            self._nginx.wait(30)


@contextmanager
def machine_in(root: Path) -> Iterator[Machine]:
    with ExitStack() as stack:
        machine = Machine(root, stack)
        stack.callback(machine.close)
        yield machine


def sections(kind: str) -> list[str]:
    """The blocks of commands for one of the two databases, in the order written."""
    other = {"sqlite": ("psql", "pg_dump", "pg_restore"), "postgres": ("adhere.db", "$COPY")}[kind]
    commands = [block.text for page in MACHINE_PAGES for block in blocks(page) if block.kind == "sh"]
    # Bash goes on after a command that fails before &&, which must fail the test.
    return [text.replace(" && ", "\n") for text in commands if not any(word in text for word in other)]


def run(machine: Machine, commands: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-e", "-u", "-x", "-o", "pipefail", "-c", commands],
        cwd=machine.root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    journal = machine.service.log if machine.service is not None else ""
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{journal}"
    return done.stdout


def check_end(machine: Machine, printed: str) -> None:
    """Check what the pages promise: metrics, tokens, and a service that is still there."""
    metrics = set(re.findall(r"# HELP (\w+)", printed))
    table = MONITORING.read_text().partition("## Alerts")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(adhere_\w+)", table))
    absent = {name for name in named if name not in metrics and name.removesuffix("_total") not in metrics}
    assert absent == {"adhere_verified_timestamp_seconds"}, "no alert on it without verify_heads"
    assert all(word in printed for word in ("coordinator", "headache", "Leeds, ward 3"))
    running = machine.service
    assert running is not None
    wait_until(lambda: running.state == "active", 60)  # it was restarted last
    assert not running.codes, running.log
    assert "Traceback" not in running.log


@pytest.mark.slow
def test_every_command_of_the_pages_with_sqlite(tmp_path: Path) -> None:
    with machine_in(tmp_path) as machine:
        commands = machine.rewritten("".join(sections("sqlite")))
        printed = run(machine, commands, machine.environment())
        check_end(machine, printed)
        assert "an admin's, shown only now: adh_" in printed
        wait_until(lambda: _answers(machine), 60)
        leaked = re.search(r"\| A secret may have become known \| [^`]*`(.*?)`", RECOVERY.read_text())
        assert leaked is not None
        epoch = leaked[1].replace("adhere trial", "/opt/adhere/bin/adhere trial")
        epoch = epoch.replace(" adhere.db", " /var/lib/adhere/adhere.db")
        stop, start = "systemctl stop adhere", "systemctl start adhere"
        printed = run(machine, machine.rewritten("\n".join([stop, epoch, start])), machine.environment())
        wait_until(lambda: _answers(machine), 60)


@pytest.mark.slow
def test_every_command_of_the_pages_with_postgresql(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        server.prepare()
        server.start()
        with closing(PostgresProxy(server.url)) as proxy, machine_in(tmp_path) as machine:
            port = re.search(r"port=(\d+)", proxy.url)
            assert port is not None
            commands = machine.rewritten("".join(sections("postgres")))
            commands = commands.replace("@127.0.0.1/adhere", f"@127.0.0.1:{port[1]}/adhere")
            as_postgres = {"PGHOST": str(server.folder), "PGUSER": "postgres", "PGDATABASE": "postgres"}
            printed = run(machine, commands, machine.environment() | as_postgres)
            check_end(machine, printed)
            wait_until(lambda: _answers(machine), 60)
            machine.close()
        server.stop()
    finally:
        server.remove()


def _answers(machine: Machine) -> bool:
    asked = ["curl", "--fail", "--silent", "--output", os.devnull, "https://trial.example.org/adhere/readyz"]
    with suppress(subprocess.TimeoutExpired):
        return subprocess.run(asked, env=machine.environment(), timeout=10, check=False).returncode == 0
    return False


def test_each_command_named_on_a_page_exists() -> None:
    """The subcommands and options of commands in running text, which no block runs."""
    commands = {
        found.replace("sudo -u adhere /opt/adhere/bin/", "")
        for page in written_pages()
        for found in INLINE.findall(page.read_text())
    }
    assert len(commands) > 10
    for name in ("new-epoch", "replay"):  # for those who keep the secrets in a file of their own
        assert any(f"trial {name}" in command and "--secret-file" in command for command in commands), name
    for command in sorted(commands):
        words = command.split()[1:]
        module = import_command(words[0])
        names = words[:2] if words[0] != "serve" else words[:1]
        known = options_of(module, names)
        for option in re.findall(r"--[a-z-]+", command):
            assert option in known, f"{command}: {option} is not known"


def import_command(name: str) -> object:
    from adhere.cli.main import app_of

    return app_of(name)


def options_of(app: object, names: list[str]) -> set[str]:
    """The options of a command."""
    import typer

    command = typer.main.get_command(app)  # type: ignore[arg-type]
    if len(names) == 2:
        command = command.commands[names[1]]  # type: ignore[attr-defined]
    return {option for parameter in command.params for option in parameter.opts}
