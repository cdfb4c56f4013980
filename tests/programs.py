"""Programs that tests need and that pip does not install."""

from __future__ import annotations

import os
import shutil

import pytest


def program(name: str, package: str) -> str:
    """The path of a program; without it the test is skipped, but in continuous integration it fails."""
    if found := shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"):
        return found
    reason = f"needs {name}, which is not on the PATH (Debian: apt-get install {package})"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
