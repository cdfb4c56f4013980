"""Flow control of pipelined requests."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl


class PipelineFlow(FlowControl):
    """Flow control that reads no more while requests wait for the answers before them."""

    def __init__(self, transport: Any, pipeline: Sized) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        """Read again."""
        if not self._pipeline:
            super().resume_reading()
