"""Launches of kernels with their arguments: recorded, and written for the program."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from warp._src import codegen, context
from warp._src import types as warp_types

from assay._notebook import cell_name
from assay._spelling import array_name, type_name

SCHEMA_VERSION = "1.1.0"
MOST_BYTES = 16 << 20
"""Arguments of a launch that take more bytes are not recorded, unless another limit is given."""


class CannotRecord(Exception):
    """The arguments of a launch cannot be recorded; the message gives the reason."""


@dataclass(frozen=True)
class Argument:
    """An argument before the launch.

    Attributes
    ----------
    name
        Name of the parameter.
    dtype
        Warp's name of the type of the value, or of an element of the array.
    shape
        Extents of an array; ``None`` for a value.
    strides
        Bytes from one index to the next, for each dimension of an array.
    content
        The elements in row-major order, with further axes for vectors and matrices; ``None`` for an empty array.
    value
        The scalar components of a value in the order of memory.
    shares_memory_with
        Names of the parameters whose arrays overlap this one.
    same_array_as
        Name of the first parameter with the same array; empty if this is the first.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] = ()
    content: np.ndarray | None = None
    value: tuple[Any, ...] = ()
    shares_memory_with: tuple[str, ...] = ()
    same_array_as: str = ""


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel.

    Attributes
    ----------
    kernel
        The kernel; an instance of a generic kernel.
    dim
        Extents of the launch.
    block_dim
        Threads in a block, or ``None``.
    device
        Warp's name of the device.
    tape
        Whether a ``wp.Tape`` recorded the launch.
    launched_at
        File and line of the call.
    arguments
        The arguments; empty if they are not recorded.
    not_recorded
        Why the arguments are not recorded; empty if they are.
    """

    kernel: Any
    dim: tuple[int, ...]
    block_dim: int | None = None
    device: str = ""
    tape: bool = False
    launched_at: str = ""
    arguments: tuple[Argument, ...] = ()
    not_recorded: str = ""

    @property
    def is_recorded(self) -> bool:
        """Whether the arguments are recorded."""
        return not self.not_recorded

    @property
    def shapes(self) -> tuple[Any, ...]:
        """The extents of the launch and the shapes of the arrays."""
        return (self.dim, tuple(argument.shape for argument in self.arguments))


def record(
    kernel: Any,
    dim: Any,
    inputs: Any = (),
    outputs: Any = (),
    *,
    block_dim: int | None = None,
    device: Any = None,
    tape: bool = False,
    launched_at: str = "",
    max_bytes: int = MOST_BYTES,
) -> Launch:
    """Record a launch with copies of its arguments.

    Parameters
    ----------
    kernel, dim, inputs, outputs, block_dim, device
        As for ``wp.launch``.
    tape
        Whether a tape records the launch.
    launched_at
        File and line of the launch.
    max_bytes
        The arguments are not recorded if they take more bytes.

    Returns
    -------
    Launch
        The launch. If its arguments cannot be recorded, :attr:`Launch.not_recorded` gives the reason.
    """
    values = [*(inputs or ()), *(outputs or ())]
    instance = instance_of(kernel, values)
    extents = (int(dim),) if np.ndim(dim) == 0 else tuple(int(extent) for extent in dim)
    common: dict[str, Any] = {
        "kernel": instance,
        "dim": extents,
        "block_dim": block_dim if block_dim and block_dim > 0 else None,
        "device": str(device) if device is not None else "",
        "tape": tape,
        "launched_at": launched_at,
    }
    try:
        return Launch(**common, arguments=_arguments_of(instance, values, max_bytes))
    except CannotRecord as error:
        return Launch(**common, not_recorded=str(error))


def instance_of(kernel: Any, values: list[Any]) -> Any:
    """The kernel, or the instance of a generic kernel for these arguments."""
    return kernel.add_overload(kernel.infer_argument_types(values)) if kernel.is_generic else kernel


def name_of(kernel: Any) -> str:
    """The name of a kernel in its source; Warp's own name of a kernel in a function has a prefix."""
    return str(getattr(kernel.func, "__name__", kernel.key))


def _arguments_of(kernel: Any, values: list[Any], max_bytes: int) -> tuple[Argument, ...]:
    parameters = kernel.adj.args
    if len(values) != len(parameters):
        raise CannotRecord(f"the kernel has {len(parameters)} parameters, but the launch has {len(values)} arguments")
    arrays = {p.label: v for p, v in zip(parameters, values, strict=True) if isinstance(v, wp.array)}
    size = sum(int(array.size) * warp_types.type_size_in_bytes(array.dtype) for array in arrays.values())
    if size > max_bytes:
        raise CannotRecord(f"its arguments take {size} bytes, more than the limit of {max_bytes}")
    shared = _shared_memory(arrays)
    same = _same_arrays(arrays)
    return tuple(
        _array_argument(p.label, p.type, v, shared.get(p.label, ()), same.get(p.label, ""))
        if array_name(p.type)
        else _value_argument(p.label, p.type, v)
        for p, v in zip(parameters, values, strict=True)
    )


def _array_argument(name: str, kind: Any, value: Any, shared: tuple[str, ...], same: str) -> Argument:
    dtype = type_name(kind.dtype)
    if _contains_arrays(kind.dtype):
        raise CannotRecord(f"argument '{name}' is an array of structs with arrays")
    if value is None:
        return Argument(name, dtype, shape=(0,) * kind.ndim, strides=(0,) * kind.ndim)
    if type(value) is not wp.array and not isinstance(value, wp.array | np.ndarray):
        raise CannotRecord(f"argument '{name}' is of type {type(value).__name__}; only wp.array is recorded")
    if isinstance(value, np.ndarray):
        return Argument(
            name,
            dtype,
            shape=tuple(value.shape[: kind.ndim]),
            strides=tuple(value.strides[: kind.ndim]),
            content=_plain(np.array(value, order="C")),
        )
    shape, strides = tuple(map(int, value.shape)), tuple(map(int, value.strides))
    content = None if value.size == 0 else _plain(_copy_of(value))
    return Argument(
        name, dtype, shape=shape, strides=strides, content=content, shares_memory_with=shared, same_array_as=same
    )


def _copy_of(array: Any) -> np.ndarray:
    if not array.device.is_cpu:
        if array.device.is_capturing:
            raise CannotRecord("a CUDA graph is being captured")
        if not array.is_contiguous:
            array = array.contiguous()
    return np.array(array.numpy(), order="C")


def _plain(content: np.ndarray) -> np.ndarray:
    """Elements as numbers, or as raw bytes if NumPy has no plain type for them."""
    if content.dtype.kind in "biuf":
        return content
    return content.view(f"V{content.dtype.itemsize}")


def _value_argument(name: str, kind: Any, value: Any) -> Argument:
    return Argument(name, type_name(kind), value=tuple(_components(name, kind, value)))


def _contains_arrays(kind: Any) -> bool:
    """Whether a type is a struct with an array, or with such a struct, among its fields."""
    return isinstance(kind, codegen.Struct) and any(
        array_name(field.type) or _contains_arrays(field.type) for field in kind.vars.values()
    )


def _components(name: str, kind: Any, value: Any) -> list[Any]:
    """The scalar components of a value, in the order of memory."""
    if isinstance(kind, codegen.Struct):
        if not isinstance(value, codegen.StructInstance):
            raise CannotRecord(f"argument '{name}' must be a struct, got {type(value).__name__}")
        components = []
        for field_name, variable in kind.vars.items():
            if array_name(variable.type):
                raise CannotRecord(f"argument '{name}' is a struct with arrays")
            components += _components(name, variable.type, getattr(value, field_name))
        return components
    scalar = kind
    if getattr(kind, "_wp_generic_type_str_", None) is not None:
        scalar = warp_types.type_scalar_type(kind)
        values = np.array(value).flatten().tolist()
    else:
        values = [getattr(value, "value", value)]
    try:
        return [_scalar(scalar, number) for number in values]
    except (TypeError, ValueError, OverflowError):
        raise CannotRecord(f"argument '{name}' cannot be written as numbers of type {type_name(kind)}") from None


def _scalar(kind: Any, number: Any) -> Any:
    if kind in (bool, wp.bool):
        return bool(number)
    if kind in (float, wp.float16, wp.float32, wp.float64) or "float" in type_name(kind):
        return float(number)
    return int(number)


def _shared_memory(arrays: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each array, the names of the arrays that overlap it; its own name if its elements overlap."""
    shared: dict[str, list[str]] = {}
    bounds = {name: _bounds(array) for name, array in arrays.items()}
    for name, array in arrays.items():
        if any(stride == 0 and extent > 1 for stride, extent in zip(array.strides, array.shape, strict=True)):
            shared.setdefault(name, []).append(name)
        for other_name, other in arrays.items():
            low, high = max(bounds[name][0], bounds[other_name][0]), min(bounds[name][1], bounds[other_name][1])
            if name != other_name and low < high and array.device == other.device and _overlap(array, other):
                shared.setdefault(name, []).append(other_name)
    return {name: tuple(others) for name, others in shared.items()}


def _same_arrays(arrays: dict[str, Any]) -> dict[str, str]:
    """For each array that an earlier parameter has as well, the name of the first such parameter."""
    first: dict[Any, str] = {}
    same = {}
    for name, array in arrays.items():
        if array.size == 0 or not array.ptr:
            continue
        key = (array.ptr, str(array.device), tuple(array.shape), tuple(array.strides), array.dtype)
        if first.setdefault(key, name) != name:
            same[name] = first[key]
    return same


def _bounds(array: Any) -> tuple[int, int]:
    """The addresses of the first byte and of the byte after the last one."""
    if array.size == 0 or not array.ptr:
        return (0, 0)
    reach = [stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True)]
    first = array.ptr + sum(min(r, 0) for r in reach)
    return first, array.ptr + sum(max(r, 0) for r in reach) + warp_types.type_size_in_bytes(array.dtype)


def _overlap(array: Any, other: Any) -> bool:
    """Whether two arrays with overlapping bounds share an element. True if it is too hard to find out."""
    if not array.device.is_cpu:
        return True
    try:
        return bool(np.shares_memory(array.numpy(), other.numpy(), max_work=10_000))
    except getattr(np, "exceptions", np).TooHardError:
        return True


def write(launch: Launch, folder: Path, stem: str, kernel_name: str, source: str) -> None:
    """Write a recorded launch as a JSON file (schemas/launch.schema.json) and one .npy file for each array.

    Parameters
    ----------
    launch
        A launch whose arguments are recorded.
    folder
        Where the files are written.
    stem
        Start of the names of the files.
    kernel_name
        Name of the kernel in the file that defines it.
    source
        Name of that file, without folders.
    """
    arguments = []
    for argument in launch.arguments:
        entry: dict[str, Any] = {"name": argument.name, "dtype": argument.dtype}
        if argument.shape is None:
            entry["value"] = [_json_number(number) for number in argument.value]
        else:
            entry |= {"shape": list(argument.shape), "strides": list(argument.strides), "file": None}
            entry["shares_memory_with"] = list(argument.shares_memory_with)
            if argument.same_array_as:
                entry["same_array_as"] = argument.same_array_as
            if argument.content is not None:
                entry["file"] = f"{stem}.{argument.name}.npy"
                np.save(folder / entry["file"], argument.content, allow_pickle=False)
        arguments.append(entry)
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "kernel": kernel_name,
        "source": source,
        "dim": list(launch.dim),
        "tape": launch.tape,
        "arguments": arguments,
    }
    if launch.block_dim is not None:
        document["block_dim"] = launch.block_dim
    if launch.device:
        document["device"] = launch.device
    if launch.launched_at:
        document["launched_at"] = launch.launched_at
    (folder / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n")


def _json_number(number: Any) -> Any:
    if isinstance(number, float) and not math.isfinite(number):
        return "nan" if math.isnan(number) else ("inf" if number > 0 else "-inf")
    return number


def caller() -> str:
    """File, or cell of a notebook, and line of the innermost call outside this package and Warp."""
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "").split(".")[0]
        if module not in ("assay", "warp"):
            path = frame.f_code.co_filename
            return f"{cell_name(path) or path}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def is_taping() -> bool:
    """Whether a tape is active."""
    return context.runtime is not None and context.runtime.tape is not None
