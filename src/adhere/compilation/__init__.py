"""Compile a composition of policies once, keep it on disk, and never run code older than its source.

A policy's compiled form is a nested NamedTuple whose *type* spells the composition; Numba specialises the generic
functions by that type.
"""

from adhere.compilation.dispatch import helper, implementation, implements, rarely_needed, specialise, subroutine
from adhere.compilation.kernel import Kernel, classes_of
from adhere.compilation.sources import note_sources
from adhere.compilation.storage import cache_folder
from adhere.compilation.views import between, beyond

__all__ = [
    "Kernel",
    "between",
    "beyond",
    "cache_folder",
    "classes_of",
    "helper",
    "implementation",
    "implements",
    "note_sources",
    "rarely_needed",
    "specialise",
    "subroutine",
]
