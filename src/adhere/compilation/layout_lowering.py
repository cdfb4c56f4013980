"""Layouts in compiled code: a pointer whose type names the elements behind it.

Attributes become loads, stores and pointer arithmetic. Nothing of a layout remains at run time, except the whole
numbers of the rule if numbers of arms are not static.
"""

from __future__ import annotations

import hashlib
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import impl_ret_borrowed, lower_builtin, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr

from adhere.compilation.intrinsics import array_at, intrinsic, is_gpu
from adhere.compilation.layout import Index, Layout, Part, layout_of
from adhere.compilation.static import types

_INT = ir.IntType(64)
# Up to this many elements, entries are read and written by comparing indices, which keeps them in registers, rather
# than by address.
FEW_ON_GPU = 4
_FEW_ON_CPU = 2


class LayoutType(types.Type):  # type: ignore[misc]
    """Type of a flat array that is accessed through a layout of a rule."""

    def __init__(self, layout: type[Layout], rule: Any) -> None:
        self.layout, self.rule = layout, rule
        digest = hashlib.sha256(repr(rule).encode()).hexdigest()[:12]
        super().__init__(name=f"{layout.__module__}.{layout.__qualname__}.{digest}")

    @property
    def key(self) -> Any:
        """Key that distinguishes two of these types."""
        return self.layout, self.rule


class VectorType(types.Array):  # type: ignore[misc]
    """Type of an array of floats whose length may be static; the elements of a short array stay in registers."""

    def __init__(self, length: int | None) -> None:
        self.length = length
        super().__init__(types.float64, 1, "C", name=f"Vector.{length}")

    @property
    def key(self) -> Any:
        """Key that distinguishes two of these types."""
        return "vector", self.length


register_default(VectorType)(models.ArrayModel)


@register_default(LayoutType)
class _LayoutModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        rule = [] if _is_static(kind.rule) else [("rule", kind.rule)]
        super().__init__(manager, kind, [("floats", types.CPointer(types.float64)), *rule])


class _IrNumber:
    """A whole number that is known only at run time, in the arithmetic of layouts."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def __add__(self, other: Any) -> _IrNumber:
        return _IrNumber(self.builder, self.builder.add(self.value, _value_of(other)))

    def __mul__(self, other: Any) -> _IrNumber:
        return _IrNumber(self.builder, self.builder.mul(self.value, _value_of(other)))

    __radd__, __rmul__ = __add__, __mul__

    def max(self, other: Any) -> _IrNumber:
        value = _value_of(other)
        is_larger = self.builder.icmp_signed(">", self.value, value)
        return _IrNumber(self.builder, self.builder.select(is_larger, self.value, value))


class _Unknown:
    """A whole number that is known only at run time, while types are inferred and no value exists yet."""

    def __add__(self, other: Any) -> _Unknown:
        return self

    __radd__ = __mul__ = __rmul__ = max = __add__


def _value_of(number: Any) -> Any:
    return number.value if isinstance(number, _IrNumber) else ir.Constant(_INT, number)


class _Rule:
    """The parts of a compiled rule that layouts use: its whole numbers, and the rules inside it.

    Without a builder, only the rule's type is known.
    """

    def __init__(self, kind: Any, builder: Any = None, value: Any = None) -> None:
        self.kind, self.builder, self.value = kind, builder, value
        self.instance_class = getattr(kind, "instance_class", None)

    def __len__(self) -> int:
        return len(self.kind.types)

    def __getitem__(self, place: int) -> Any:
        kind = self.kind.types[place]
        if isinstance(kind, types.IntegerLiteral):
            return kind.literal_value
        value = None if self.builder is None else self.builder.extract_value(self.value, place)
        if isinstance(kind, types.BaseTuple):
            return _Rule(kind, self.builder, value)
        return _Unknown() if value is None else _IrNumber(self.builder, value)

    def __getattr__(self, name: str) -> Any:
        if name not in getattr(self.kind, "fields", ()):
            raise AttributeError(f"the rule has no {name}")
        return self[self.kind.fields.index(name)]


def _is_static(kind: Any) -> bool:
    if isinstance(kind, types.BaseTuple):
        return all(_is_static(part) for part in kind.types)
    return isinstance(kind, types.Literal) or not isinstance(kind, types.Integer)


def _layout(context: Any, builder: Any, kind: Any, floats: Any, rule: Any) -> Any:
    """Return a value of a layout's type."""
    own = cgutils.create_struct_proxy(kind)(context, builder)
    own.floats = floats
    if not _is_static(kind.rule):
        own.rule = rule
    return impl_ret_borrowed(context, builder, kind, own._getvalue())


@infer_getattr
class _LayoutAttributes(AttributeTemplate):  # type: ignore[misc]
    key = LayoutType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        field, rule = kind.layout.fields.get(name), _Rule(kind.rule)
        if field is None:
            return None
        if isinstance(field, Part):
            return LayoutType(field.layout(rule), field.inner(rule).kind)
        if isinstance(field, Index):
            return types.int64
        shape = field.shape(rule)
        if len(shape) == 1:
            return VectorType(shape[0] if isinstance(shape[0], int) else None)
        return types.Array(types.float64, 2, "C") if shape else types.float64


def _place(context: Any, builder: Any, kind: Any, view: Any, name: str) -> tuple[Any, _Rule]:
    """Return the pointer to a field's first element, and the rule."""
    own = cgutils.create_struct_proxy(kind)(context, builder, view)
    rule = _Rule(kind.rule) if _is_static(kind.rule) else _Rule(kind.rule, builder, own.rule)
    return builder.gep(own.floats, [_value_of(kind.layout.offset(rule, name))]), rule


@lower_getattr_generic(LayoutType)  # type: ignore[untyped-decorator]
def _get(context: Any, builder: Any, kind: Any, view: Any, name: str) -> Any:
    field, wanted = kind.layout.fields[name], context.typing_context.resolve_getattr(kind, name)
    place, rule = _place(context, builder, kind, view, name)
    if isinstance(wanted, LayoutType):
        return _layout(context, builder, wanted, place, field.inner(rule).value)
    if isinstance(wanted, types.Array):
        return array_at(context, builder, wanted, place, [_value_of(length) for length in field.shape(rule)])
    number = builder.load(place)
    return builder.fptosi(number, _INT) if isinstance(field, Index) else number


@lower_setattr_generic(LayoutType)  # type: ignore[untyped-decorator]
def _set(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> Any:
    kind, given = signature.args
    place, _ = _place(context, builder, kind, arguments[0], name)
    builder.store(context.cast(builder, arguments[1], given, types.float64), place)


@lower_builtin(operator.getitem, VectorType, types.Integer)  # type: ignore[untyped-decorator]
def _get_entry(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, index_kind = signature.args
    floats, index, places = _entries(context, builder, kind, index_kind, arguments)
    if places is None:
        return builder.load(builder.gep(floats, [index]))
    # All elements are read, since the selection must be of values rather than of addresses.
    entries = [builder.load(place) for place in places]
    found = entries[0]
    for number, entry in enumerate(entries[1:], start=1):
        found = builder.select(builder.icmp_signed("==", index, ir.Constant(index.type, number)), entry, found)
    return found


@lower_builtin(operator.setitem, VectorType, types.Integer, types.float64)  # type: ignore[untyped-decorator]
def _set_entry(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, index_kind, _ = signature.args
    floats, index, places = _entries(context, builder, kind, index_kind, arguments[:2])
    if places is None:
        builder.store(arguments[2], builder.gep(floats, [index]))
    for number, place in enumerate(places or ()):
        is_it = builder.icmp_signed("==", index, ir.Constant(index.type, number))
        builder.store(builder.select(is_it, arguments[2], builder.load(place)), place)
    return context.get_dummy_value()


def _entries(context: Any, builder: Any, kind: Any, index_kind: Any, arguments: Any) -> tuple[Any, Any, Any]:
    """Return a vector's pointer, the index, and pointers to all elements if they are few.

    With few elements on a GPU, where integer instructions are the bottleneck, the index is compared without checks.
    It must not be negative, unless it is a constant.
    """
    from numba.np.arrayobj import fix_integer_index  # imports half of Numba, which only compiling needs

    array, index = context.make_array(kind)(context, builder, arguments[0]), arguments[1]
    is_few = kind.length is not None and kind.length <= (FEW_ON_GPU if is_gpu(context) else _FEW_ON_CPU)
    if not (is_few and is_gpu(context)) or isinstance(index, ir.Constant):
        size = cgutils.unpack_tuple(builder, array.shape, 1)[0]
        index = fix_integer_index(context, builder, index_kind, index, size)
        if context.enable_boundscheck:
            cgutils.do_boundscheck(context, builder, index, size)
    places = [builder.gep(array.data, [ir.Constant(_INT, entry)]) for entry in range(kind.length if is_few else 0)]
    return array.data, index, places or None


def _view_of(kind_name: str) -> Any:
    def definition(typing_context: Any, rule: Any, floats: Any) -> Any:
        kind = LayoutType(layout_of(kind_name, rule), rule)

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(floats)(context, builder, arguments[1])
            return _layout(context, builder, kind, array.data, arguments[0])

        return kind(rule, floats), code

    return definition


@intrinsic(_view_of("State"))
def state_of(rule: Any, floats: Any) -> Any:
    """Return a flat array as the state of a rule."""
    return layout_of("State", rule)(rule, floats)


@intrinsic(_view_of("Memo"))
def memo_of(rule: Any, floats: Any) -> Any:
    """Return a flat array as the memo of a rule."""
    return layout_of("Memo", rule)(rule, floats)
