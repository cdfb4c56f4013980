"""Compile a composition of policies once, keep it on disk, and never run code older than its source.

A policy's compiled form is a nested NamedTuple whose *type* spells the composition; Numba specialises the generic
functions by that type.
"""

from adhere.compilation.dispatch import (
    generic,
    helper,
    implementation,
    implements,
    rarely_needed,
    specialise,
    subroutine,
)
from adhere.compilation.hints import guessed, in_wide_vectors, unlikely
from adhere.compilation.kernel import Kernel, classes_of
from adhere.compilation.local import copy_into, local_floats, local_integers, local_words
from adhere.compilation.pinning import number_in, pinned
from adhere.compilation.sources import note_sources
from adhere.compilation.storage import cache_folder
from adhere.compilation.views import between, beyond

__all__ = [
    "Kernel",
    "between",
    "beyond",
    "cache_folder",
    "classes_of",
    "copy_into",
    "generic",
    "guessed",
    "helper",
    "implementation",
    "implements",
    "in_wide_vectors",
    "local_floats",
    "local_integers",
    "local_words",
    "note_sources",
    "number_in",
    "pinned",
    "rarely_needed",
    "specialise",
    "subroutine",
    "unlikely",
]
