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
from adhere.compilation.local import copy_into, local_floats, local_integers, local_words, room_for
from adhere.compilation.pinning import LARGEST_PINNED, number_in, pinned
from adhere.compilation.sources import note_sources, noted_digest
from adhere.compilation.storage import cache_folder
from adhere.compilation.views import between, beyond

__all__ = [
    "LARGEST_PINNED",
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
    "noted_digest",
    "number_in",
    "pinned",
    "rarely_needed",
    "room_for",
    "specialise",
    "subroutine",
    "unlikely",
]
