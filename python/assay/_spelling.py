"""How the exported file spells types and constants of Warp."""

from __future__ import annotations

import enum
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp
from warp._src import codegen, context
from warp._src import types as warp_types

from ._errors import CannotExport

StructName = Callable[[codegen.Struct], str]
"""Gives the name of a struct in the exported file, and writes its definition there if needed."""


def spell_type(kind: Any, struct_name: StructName) -> str:
    """Spell a type as an expression that both Warp and Assay accept.

    Parameters
    ----------
    kind
        A scalar, vector, matrix, quaternion, transform, struct or array type, or an annotation such as ``Any``.
    struct_name
        Called for each struct that the type contains.

    Returns
    -------
    str
        For instance ``wp.array(dtype=wp.vec3f, ndim=2)``.

    Raises
    ------
    CannotExport
        If the exported file cannot name the type.
    """
    if kind in (int, float, bool):
        return str(kind.__name__)
    if kind is Any:
        return "Any"
    array = array_name(kind)
    if array:
        return f"wp.{array}(dtype={spell_type(kind.dtype, struct_name)}, ndim={kind.ndim})"
    if type(kind) is getattr(warp_types, "Reference", None):
        return f"wp.ref[{spell_type(kind.value_type, struct_name)}]"
    if kind in (warp_types.Int, warp_types.Float, warp_types.Scalar):
        return f"wp.{kind.__name__}"
    if isinstance(kind, codegen.Struct):
        return struct_name(kind)
    if inspect.isclass(kind):
        if issubclass(kind, np.generic):
            kind = warp_types.np_dtype_to_warp_type.get(kind, kind)
        if kind in warp_types.scalar_types or kind is warp_types.bool:
            return f"wp.{kind.__name__}"
        if getattr(kind, "_wp_generic_type_str_", None) is not None:
            return _spell_aggregate(kind, struct_name)
        if getattr(wp, kind.__name__, None) is kind:
            return f"wp.{kind.__name__}"
    if kind is Callable or getattr(kind, "__origin__", None) is Callable or "Callable" in repr(kind):
        return "wp.Function"
    raise CannotExport(f"it uses the type {type_name(kind)}")


def type_name(kind: Any) -> str:
    """Name a type for a message."""
    annotated = getattr(kind, "_concrete_cls", None)
    if annotated is not None:
        return str(annotated.__name__)
    return str(getattr(kind, "__name__", None) or type(kind).__name__)


_ARRAYS = ("array", "indexedarray", "fabricarray", "indexedfabricarray")


def array_name(kind: Any) -> str:
    """The name of an array type; empty for other types. Warp has annotations and, in older versions, empty arrays."""
    annotation = getattr(warp_types, "_ArrayAnnotationBase", None)
    is_annotation = annotation is not None and isinstance(kind, annotation)
    found = getattr(kind, "_concrete_cls", None) if is_annotation else type(kind)
    return next((name for name in _ARRAYS if getattr(warp_types, name, None) is found), "")


def _spell_aggregate(kind: Any, struct_name: StructName) -> str:
    """Spell a type by its predefined name, because a kernel can call only names; other sizes by their factory."""
    shape = tuple(kind._shape_)
    match kind._wp_generic_type_str_:
        case "vec_t":
            stem = {(2,): "vec2", (3,): "vec3", (4,): "vec4", (6,): "spatial_vector"}.get(shape)
            made = f"wp.types.vector(length={shape[0] or 'Any'}, dtype="
        case "mat_t":
            stem = {(2, 2): "mat22", (3, 3): "mat33", (4, 4): "mat44", (6, 6): "spatial_matrix"}.get(shape)
            made = f"wp.types.matrix(shape=({shape[0] or 'Any'}, {shape[-1] or 'Any'}), dtype="
        case "quat_t":
            stem, made = "quat", "wp.types.quaternion(dtype="
        case "transform_t":
            stem, made = "transform", "wp.types.transformation(dtype="
        case _:
            raise CannotExport(f"it uses the type {type_name(kind)}")
    scalar = warp_types.type_scalar_type(kind)
    predefined = f"{stem}{_LETTERS.get(scalar, '?')}"
    if stem and _is_equal_type(getattr(wp, predefined, None), kind):
        return f"wp.{predefined}"
    return f"{made}{spell_type(scalar, struct_name)})"


_LETTERS = {
    wp.float16: "h",
    wp.float32: "f",
    wp.float64: "d",
    wp.int8: "b",
    wp.int16: "s",
    wp.int32: "i",
    wp.int64: "l",
    wp.uint8: "ub",
    wp.uint16: "us",
    wp.uint32: "ui",
    wp.uint64: "ul",
}


def _is_equal_type(predefined: Any, kind: Any) -> bool:
    """Whether both are the same vector, matrix, quaternion or transform type; Warp makes a class for each."""
    return (
        predefined is not None
        and predefined._wp_generic_type_str_ == kind._wp_generic_type_str_
        and tuple(predefined._shape_) == tuple(kind._shape_)
        and warp_types.type_scalar_type(predefined) == warp_types.type_scalar_type(kind)
    )


def spell_constant(value: Any, struct_name: StructName) -> str:
    """Spell a constant that a kernel captured.

    Numbers keep all digits of their Python value. A value of a Warp type keeps this type.

    Raises
    ------
    CannotExport
        If the exported file cannot hold the value.
    """
    if isinstance(value, enum.Enum) and not isinstance(value, int):
        value = value.value
    if isinstance(value, np.generic):
        raise CannotExport(
            f"it uses a NumPy scalar of type {type(value).__name__}, which Warp does not compile; "
            "convert it where it is defined, as in float(x)"
        )
    if isinstance(value, bool | warp_types.bool):
        return str(bool(value))
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _spell_float(float(value))
    if isinstance(value, str):
        return repr(value)
    if value is None:
        return "None"
    if type(value) in warp_types.scalar_types:
        number = value.value
        return f"wp.{type(value).__name__}({_spell_float(number) if isinstance(number, float) else number})"
    if getattr(type(value), "_wp_generic_type_str_", None) is not None:
        numbers = ", ".join(_spell_number(x) for x in np.array(value).flatten().tolist())
        return f"{spell_type(type(value), struct_name)}({numbers})"
    raise CannotExport(f"it uses a value of type {type(value).__name__}, which a kernel cannot hold as a constant")


def _spell_number(number: int | float | bool) -> str:
    return _spell_float(number) if isinstance(number, float) else str(number)


def _spell_float(number: float) -> str:
    if math.isnan(number):
        return "wp.nan"
    if math.isinf(number):
        return "wp.inf" if number > 0 else "-wp.inf"
    return repr(number)


def is_builtin_function(value: Any) -> bool:
    """Return whether the value is a builtin function of Warp."""
    return isinstance(value, context.Function) and value.is_builtin()
