"""Compile a composition of policies once, keep it on disk, and never run code older than its source.

A policy's compiled form is a nested NamedTuple whose *type* spells the composition; Numba specialises the generic
functions by that type.
"""

from adhere.compilation.dispatch import (
    generic,
    generic_with_default,
    implementation,
    implements,
    inline,
    no_inline,
    specialise,
)
from adhere.compilation.hints import guessed, in_wide_vectors, unlikely
from adhere.compilation.kernel import Kernel, classes_of
from adhere.compilation.layout import (
    Index,
    Layout,
    Matrix,
    Memo,
    Number,
    Part,
    Parts,
    PerArm,
    State,
    Vector,
    laid_out,
    layout_of,
)
from adhere.compilation.layout_types import FEW_ON_GPU, memo_of, state_of
from adhere.compilation.local import copy_into, local_floats, local_integers, local_words, room_for
from adhere.compilation.sources import note_sources, noted_digest
from adhere.compilation.static import MAX_STATIC, if_two_arms, static_type
from adhere.compilation.storage import cache_folder
from adhere.compilation.view import strip, view

__all__ = [
    "FEW_ON_GPU",
    "MAX_STATIC",
    "Index",
    "Kernel",
    "Layout",
    "Matrix",
    "Memo",
    "Number",
    "Part",
    "Parts",
    "PerArm",
    "State",
    "Vector",
    "cache_folder",
    "classes_of",
    "copy_into",
    "generic",
    "generic_with_default",
    "guessed",
    "if_two_arms",
    "implementation",
    "implements",
    "in_wide_vectors",
    "inline",
    "laid_out",
    "layout_of",
    "local_floats",
    "local_integers",
    "local_words",
    "memo_of",
    "no_inline",
    "note_sources",
    "noted_digest",
    "room_for",
    "specialise",
    "state_of",
    "static_type",
    "strip",
    "unlikely",
    "view",
]
