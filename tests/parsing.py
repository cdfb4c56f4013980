"""Sources as trees."""

from __future__ import annotations

import ast
import gc


def parsed(source: str) -> ast.Module:
    """Parse a source without garbage collection, which may switch to a greenlet of Playwright's below the parser."""
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        gc.enable()
