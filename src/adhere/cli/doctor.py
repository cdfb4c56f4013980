"""`adhere doctor`: show what is installed here, what is missing, and how to install it."""

import json
import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from pathlib import Path
from urllib.parse import unquote, urlsplit

import typer

from adhere.processors import usable_processors
from adhere.report.numbers import counted

_USES = {
    "report": "plots, and the report of adhere reproduce",
    "service": "adhere serve, adhere demo",
    "client": "adhere.Client",
    "gpu": "simulate on a CUDA GPU",
    "cluster": "simulate on a Dask cluster",
    "analysis": "adhere analyse",
    "pandas": "results as pandas frames",
    "dev": "adhere's own tests",
}
_REQUIREMENT = re.compile(r"""^(?P<name>[\w.-]+)(\[(?P<extras>[^]]*)])?.*?(extra == ['"](?P<of>[\w-]+)['"])?$""")


def doctor() -> None:
    """Show what is installed here, what is missing, and how to install it.

    The list has versions, extras, the folder of compiled code, and the GPU. Include it in a bug report.
    """
    typer.echo(f"adhere {version('adhere')}, Python {platform.python_version()}, {platform.platform()}")
    typer.echo(f"{_processors()}; Python at {sys.executable}\n")
    for title, lines in (("Libraries", _libraries()), ("Extras", _extras()), ("Compiled code", _compiled_code())):
        typer.echo(title)
        for line in lines:
            typer.echo(f"  {line}")
        typer.echo()
    typer.echo(f"GPU\n  {_gpu()}")


def _processors() -> str:
    n_usable, n_present = usable_processors(), os.cpu_count() or 1
    return f"{n_usable} of {n_present} processors" if n_usable < n_present else f"{n_usable} processors"


def _needed() -> dict[str, list[str]]:
    """Return the libraries that each extra needs. The libraries that adhere always needs are under an empty name."""
    found: dict[str, list[str]] = {}
    nested: dict[str, list[str]] = {}
    for text in requires("adhere") or ():
        match = _REQUIREMENT.match(text)
        assert match is not None
        extra = match["of"] or ""
        if match["name"] == "adhere":
            nested[extra] = [name.strip() for name in match["extras"].split(",")]
            found.setdefault(extra, [])
        else:
            found.setdefault(extra, []).append(match["name"])
    for extra, others in nested.items():
        found[extra] += [name for other in others for name in found[other]]
    return found


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _libraries() -> Iterator[str]:
    for name in _needed()[""]:
        found = _installed(name)
        yield f"✓ {name} {found}" if found else f"✗ {name} is missing: pip install {name}"


def _extras() -> Iterator[str]:
    needed = {extra: names for extra, names in _needed().items() if extra}
    width = max(map(len, needed))
    for extra, names in needed.items():
        missing = [name for name in names if _installed(name) is None]
        mark, said = "✓", _USES.get(extra, "")
        if missing:
            mark, said = "-", f"{said}; missing {', '.join(missing)}: {_command(extra, missing)}"
        yield f"{mark} {extra:{width}s}  {said}"


def _command(extra: str, missing: list[str]) -> str:
    """Return the command that installs an extra: from the checkout, if adhere was installed from one."""
    text = distribution("adhere").read_text("direct_url.json")
    origin = json.loads(text) if text else {}
    folder = unquote(urlsplit(origin.get("url", "")).path) if "dir_info" in origin else ""
    editable = "--editable " if origin.get("dir_info", {}).get("editable") else ""
    client = f"{folder or '.'}/packages/adhere-client " if "adhere-client" in missing else ""  # on no index
    return f"pip install {client}{editable}'{folder or 'adhere'}[{extra}]'"


def _compiled_code() -> Iterator[str]:
    from adhere.compilation.storage import cache_root

    root = cache_root()
    if root is None:
        yield "✗ no folder is writable, so each process compiles again. Set ADHERE_CACHE_DIR to a writable folder"
        return
    files = [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else []
    size = sum(_size(path) for path in files)
    yield f"✓ {root}: {counted(len(files), 'file')}, {size / 1e6:.1f} MB (deleting them is safe)"
    for name in sorted(name for name in os.environ if name.startswith("NUMBA_")):
        yield f"- {name}={os.environ[name]} is set; this may make compiled code slower"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # another process has just replaced it
        return 0


def _gpu() -> str:
    try:
        from adhere.compilation.gpu import SIMULATED, cuda, why_no_gpu
    except ImportError as error:
        return f"- not available: {error}"
    why_not = why_no_gpu()
    if why_not is not None:
        missing = f"the extra gpu is not installed: {_command('gpu', [])}" if "extra" in why_not else why_not
        return f"- not available: {missing}"
    if SIMULATED:
        return "- simulated in Python, because NUMBA_ENABLE_CUDASIM is set: slow, for tests"
    name = cuda.get_current_device().name
    return f"✓ {name.decode() if isinstance(name, bytes) else name}"
