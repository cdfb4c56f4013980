"""Compile each composition of policies once, store it on disk, and never run code older than its source.

A policy's compiled form is a nested NamedTuple whose *type* represents the composition. Numba specialises the generic
functions for that type.
"""

from adhere.compilation.dispatch import generic as generic
from adhere.compilation.dispatch import generic_with_default as generic_with_default
from adhere.compilation.dispatch import implementation as implementation
from adhere.compilation.dispatch import implements as implements
from adhere.compilation.dispatch import inline as inline
from adhere.compilation.dispatch import no_inline as no_inline
from adhere.compilation.dispatch import settle as settle
from adhere.compilation.dispatch import specialise as specialise
from adhere.compilation.intrinsics import guessed as guessed
from adhere.compilation.intrinsics import strip as strip
from adhere.compilation.intrinsics import unlikely as unlikely
from adhere.compilation.intrinsics import view as view
from adhere.compilation.kernel import Kernel as Kernel
from adhere.compilation.kernel import classes_of as classes_of
from adhere.compilation.layout import Index as Index
from adhere.compilation.layout import Matrix as Matrix
from adhere.compilation.layout import Memo as Memo
from adhere.compilation.layout import Number as Number
from adhere.compilation.layout import Part as Part
from adhere.compilation.layout import Parts as Parts
from adhere.compilation.layout import PerArm as PerArm
from adhere.compilation.layout import PerPair as PerPair
from adhere.compilation.layout import State as State
from adhere.compilation.layout import Vector as Vector
from adhere.compilation.layout import laid_out as laid_out
from adhere.compilation.layout import layout_of as layout_of
from adhere.compilation.layout_lowering import FEW_ON_GPU as FEW_ON_GPU
from adhere.compilation.layout_lowering import memo_of as memo_of
from adhere.compilation.layout_lowering import state_of as state_of
from adhere.compilation.sources import note_sources as note_sources
from adhere.compilation.static import by_number_of_arms as by_number_of_arms
from adhere.compilation.static import if_two_arms as if_two_arms
