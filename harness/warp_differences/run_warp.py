"""Runs kernels in NVIDIA Warp on the CPU, forward and backward, and writes the resulting contents of their arrays.

Usage: run_warp.py FOLDER [--jobs N] [--limit SECONDS] [--cache FOLDER]
       run_warp.py --version
       run_warp.py --signatures

FOLDER contains plan.json and the files that it names; exchange.cpp writes them. The results are written to the folder
FOLDER/answers:
    session.json                      the versions of Warp, NumPy and Python, and the machine
    <case>.jsonl                      one line per launch and pass: its status and message
    <case>_<launch>_forward.bin       the contents of the arrays, in the order of the parameters
    <case>_<launch>_backward.bin      the contents of their gradients in the same order; zeros if an array has none
Each pass of a launch runs in a separate process, because Warp's backward pass may write outside its arrays. Only N
processes compile kernels, because each process spends seconds on Warp's precompiled header.
"""

import argparse
import ctypes
import importlib.util
import json
import os
import pathlib
import platform
import signal
import sys
from typing import Any, ClassVar

import numpy as np
import warp as wp

MESH_PREFIX = "wp.Mesh."  # paths of the parameters that hold the arrays of all meshes
GRID_PREFIX = "wp.HashGrid."  # those of all hash grids
TEXTURE_PREFIX = "wp.Texture"  # those of all textures
VOLUME_PREFIX = "wp.Volume."  # those of all volumes
TEXTURE_TYPES = [getattr(wp, name) for name in ("Texture1D", "Texture2D", "Texture3D") if hasattr(wp, name)]
BVH_PREFIX = "wp.Bvh."  # those of all hierarchies of boxes
# By type of the coordinates of a hash grid: words in the source of a kernel that queries such a grid.
GRID_TYPES = {wp.float64: ("vec3d", "float64"), wp.float16: ("vec3h", "float16")}
BLOCK_SIZE = "wp.block_dim()"  # path of the parameter that holds the number of threads in a block


def load_kernel(case: dict[str, Any], folder: pathlib.Path) -> wp.Kernel:
    """Returns the kernel of a case; imports its source file as a separate module, once for all cases of the file."""
    name = "assay_case_" + pathlib.Path(case["source"]).stem
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, folder / case["source"])
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return getattr(sys.modules[name], case["kernel"])


def value_argument(kind: Any, raw: bytes) -> Any:
    """Converts the bytes of a parameter to a value of its Warp type."""
    if hasattr(kind, "ctype") and callable(kind):  # a struct
        instance = kind()
        expect_size(ctypes.sizeof(instance._ctype), raw)
        ctypes.memmove(ctypes.addressof(instance._ctype), raw, len(raw))
        return instance
    if issubclass(kind, ctypes.Array):  # vectors and similar types
        return kind.from_buffer_copy(raw)
    if kind is getattr(wp, "bfloat16", None):  # NumPy has no such type: the upper half of a float32
        return kind(float(np.frombuffer(b"\0\0" + raw, np.float32)[0]))
    return np.frombuffer(raw, wp.dtype_to_numpy(kind))[0]


def expect_size(size: int, raw: bytes) -> None:
    """Raises ValueError if the number of bytes differs from the size in Warp's layout."""
    if size != len(raw):
        raise ValueError(f"argument must have {size} bytes in Warp's layout, got {len(raw)}")


def array_argument(dtype: Any, shape: list[int], raw: bytes, with_gradient: bool) -> wp.array:
    """Makes an array with the given contents and, if `with_gradient`, a gradient of zeros."""
    array = wp.zeros(shape, dtype=dtype, device="cpu", requires_grad=with_gradient)
    expect_size(wp.types.type_size_in_bytes(dtype) * array.size, raw)
    fill(array, raw)
    return array


def fill(array: wp.array, raw: bytes) -> None:
    """Copies the bytes to the memory of a contiguous array."""
    if raw:
        ctypes.memmove(array.ptr, raw, len(raw))


def content(array: wp.array, size: int) -> bytes:
    """Returns the first `size` bytes of a contiguous array."""
    return ctypes.string_at(array.ptr, size) if size else b""


def fabric_array(array: wp.array) -> wp.fabricarray:
    """Makes a fabric array of two buckets from the memory of an array. The rows of two dimensions are its elements."""
    dtype = array.dtype
    scalar = getattr(dtype, "_wp_scalar_type_", dtype)
    shape = getattr(dtype, "_shape_", ())
    is_quaternion = getattr(dtype, "_wp_generic_type_str_", None) == "quat_t"
    role = "quat" if is_quaternion else ["", "vector", "matrix"][len(shape)]
    letter = np.dtype(wp.dtype_to_numpy(scalar)).str[1:].replace("b1", "b")
    depth = array.ndim - 1
    elements, size = array.ptr or 0, wp.types.type_size_in_bytes(dtype)
    counts = [array.shape[0] // 2, array.shape[0] - array.shape[0] // 2]
    attribute = {
        "type": (True, letter, int(np.prod(shape, dtype=int)), depth, role),
        "access": 2,
        "counts": counts,
    }
    kept: list[wp.array] = []
    if depth:
        row_bytes = array.shape[1] * size
        kept = [
            wp.array([elements + i * row_bytes for i in range(array.shape[0])], dtype=wp.uint64, device="cpu"),
            wp.full(array.shape[0], array.shape[1], dtype=wp.uint64, device="cpu"),
        ]
        elements, size = kept[0].ptr, 8
        attribute["array_lengths"] = [kept[1].ptr, kept[1].ptr + counts[0] * size]
    attribute["pointers"] = [elements, elements + counts[0] * size]
    made = wp.fabricarray({"version": 1, "device": "cpu", "attribs": {"values": attribute}}, "values", ndim=array.ndim)
    made.assay_memory = kept  # the fabric array contains only the addresses of these arrays
    return made


class IndexedArray:
    """The parts of an indexed array: the array `data` and one array of indices per dimension, `indices0` and so on."""

    def __init__(self, kind: wp.indexedarray | wp.indexedfabricarray) -> None:
        self.data = None
        self.kind = kind
        for dimension in range(kind.ndim):
            setattr(self, f"indices{dimension}", None)

    def part_type(self, part: str) -> wp.array:
        """Returns the Warp type of a part."""
        return wp.array(dtype=self.kind.dtype if part == "data" else wp.int32)

    def made(self) -> wp.indexedarray | wp.indexedfabricarray:
        """Makes the indexed array from its parts."""
        if isinstance(self.kind, wp.indexedfabricarray):
            return wp.indexedfabricarray(fabric_array(self.data), self.indices0)
        return wp.indexedarray(self.data, [getattr(self, f"indices{d}") for d in range(self.kind.ndim)])


class StructArray:
    """An array of structs that contain arrays. The plan has one array for each field of these structs."""

    def __init__(self, kind: wp.array) -> None:
        self.kind = kind
        self.parts: dict[tuple[str, ...], wp.array] = {}  # by path of the field
        self.array: wp.array | None = None

    def part_type(self, path: list[str]) -> wp.array:
        """Returns the type of the array that contains a field of all structs."""
        kind, rank = self.kind.dtype, self.kind.ndim
        for name in path:
            kind = kind.vars[name].type
            if isinstance(kind, wp.array):
                kind, rank = kind.dtype, rank + kind.ndim
        return wp.array(dtype=kind, ndim=rank)

    def struct(self, kind: Any, path: tuple[str, ...], index: tuple[int, ...]) -> Any:
        """Makes the struct at this index of the array, or one of its fields that is a struct."""
        made = kind()
        for name, field in kind.vars.items():
            part = self.parts.get((*path, name))
            if part is None:
                value = self.struct(field.type, (*path, name), index)
            elif isinstance(field.type, wp.array):
                value = part[index]
            else:
                value = part.numpy()[index]
            setattr(made, name, value.item() if isinstance(value, np.generic) else value)
        return made

    def made(self) -> wp.array:
        """Makes the array of structs. Its arrays are rows of the plan's arrays; its other fields are copies."""
        shape = tuple(map(min, zip(*(part.shape[: self.kind.ndim] for part in self.parts.values()), strict=True)))
        structs = [self.struct(self.kind.dtype, (), index) for index in np.ndindex(*shape)]
        needs_grad = any(part.requires_grad for part in self.parts.values())
        flat = wp.array(structs, dtype=self.kind.dtype, device="cpu", requires_grad=needs_grad)
        self.array = flat.reshape(shape)
        return self.array

    def fetch(self) -> None:
        """Copies the fields that are not arrays, with their gradients, from the structs to the plan's arrays."""
        for path, part in self.parts.items():
            rows = tuple(slice(extent) for extent in self.array.shape)
            for whole, target in ((self.array, part), (self.array.grad, part.grad)):
                if whole is None or target is None or target.ndim != whole.ndim:
                    continue
                values = whole.numpy()
                for name in path:
                    values = values[name]
                target.numpy()[rows] = values


class Inputs:
    """Makes the arguments of a launch from the parameters of the plan.

    The plan has one parameter for each field of a struct that contains arrays, and for each part of an indexed array.
    """

    def __init__(self, kernel: wp.Kernel) -> None:
        self.left = list(kernel.adj.args)
        self.given = []
        self.struct = None  # the name of the last argument, if it is such a struct
        self.place = None

    def next_type(self, path: str | None) -> Any:
        """Determines the destination of the next parameter and returns its Warp type.

        Parameters
        ----------
        path
            The names of the argument and of its nested fields, separated by dots; None or empty if the parameter is a
            whole argument.
        """
        root, *fields = path.split(".") if path else [None]
        if not fields or root != self.struct:
            variable = self.left.pop(0)
            self.struct = root
            self.given.append(self.owner(variable.type) if fields else None)
            if not fields:
                self.place = None
                return variable.type
        owner = self.given[-1]
        if isinstance(owner, StructArray):
            self.place = (owner, tuple(fields))
            return owner.part_type(fields)
        for field in fields[:-1]:
            owner = getattr(owner, field)
        self.place = (owner, fields[-1])
        if isinstance(owner, IndexedArray):
            return owner.part_type(fields[-1])
        return owner._cls.vars[fields[-1]].type

    @staticmethod
    def owner(kind: Any) -> Any:
        """Makes the object that holds the parameters of one argument, which has several."""
        if isinstance(kind, wp.indexedarray | wp.indexedfabricarray):
            return IndexedArray(kind)
        return StructArray(kind) if isinstance(kind, wp.array) else kind()

    def add(self, value: Any) -> Any:
        """Stores the value of the parameter for which `next_type` was called last, and returns it."""
        if self.place is None:
            self.given[-1] = value
        elif isinstance(self.place[0], StructArray):
            self.place[0].parts[self.place[1]] = value
        else:
            setattr(*self.place, value.item() if isinstance(value, np.generic) else value)
        return value

    def all(self) -> list[Any]:
        """Returns all arguments of the launch; raises ValueError if the plan has too few."""
        if self.left:
            raise ValueError(f"the plan lacks {len(self.left)} arguments")
        return [given.made() if isinstance(given, IndexedArray | StructArray) else given for given in self.given]

    def fetch(self) -> None:
        """Copies the results of the launch that Warp wrote to copies of the plan's arrays."""
        for given in self.given:
            if isinstance(given, StructArray):
                given.fetch()


@wp.kernel
def read_floats(volume: wp.uint64, values: wp.array3d(dtype=wp.float32)) -> None:
    """Copies the values of a volume."""
    i, j, k = wp.tid()
    values[i, j, k] = wp.volume_lookup_f(volume, i, j, k)


@wp.kernel
def read_vectors(volume: wp.uint64, values: wp.array3d(dtype=wp.vec3)) -> None:
    """Copies the values of a volume."""
    i, j, k = wp.tid()
    values[i, j, k] = wp.volume_lookup_v(volume, i, j, k)


@wp.kernel
def read_ints(volume: wp.uint64, values: wp.array3d(dtype=wp.int32)) -> None:
    """Copies the values of a volume."""
    i, j, k = wp.tid()
    values[i, j, k] = wp.volume_lookup_i(volume, i, j, k)


class Structures:
    """The meshes, hash grids, hierarchies of boxes, textures and volumes of a launch.

    The plan has them as rows of arrays. The structure in row k has the identifier k + 1; a texture is known by any
    number whose remainder by the number of rows is k.
    """

    PREFIXES = (MESH_PREFIX, GRID_PREFIX, BVH_PREFIX, TEXTURE_PREFIX, VOLUME_PREFIX)
    VOLUME_VALUES: ClassVar = {
        "floats": (0.0, read_floats),
        "vectors": ((0.0, 0.0, 0.0), read_vectors),
        "ints": (0, read_ints),
    }
    """By kind of volume: the value outside of it, and the kernel that reads its voxels."""

    def __init__(self, kernel: wp.Kernel) -> None:
        self.source = kernel.adj.source
        self.arrays: dict[str, wp.array] = {}  # by path
        self.made: list[wp.Mesh | wp.HashGrid | wp.Bvh | wp.Volume] = []
        self.textures: dict[Any, list[Any]] = {}  # by type of a texture

    def add(self, parameter: dict[str, Any], raw: bytes) -> None:
        """Stores an array of all structures; does nothing for other parameters."""
        path = parameter["path"] or ""
        if path.startswith(self.PREFIXES):
            dtype: Any = wp.int32
            if path.rpartition(".")[2] in ("points", "velocities", "lowers", "uppers", "vectors", "sizes", "origins"):
                dtype = wp.vec3
            elif path == VOLUME_PREFIX + "floats":
                dtype = wp.float32
            elif path == VOLUME_PREFIX + "extents":
                dtype = wp.vec3i
            elif path.startswith(TEXTURE_PREFIX):
                dtype = wp.vec4
            elif path in (GRID_PREFIX + "cells", GRID_PREFIX + "dims"):
                dtype = wp.vec3i
            elif path == GRID_PREFIX + "widths":
                dtype = wp.float32
            self.arrays[path] = array_argument(dtype, parameter["shape"], raw, False)

    def make(self) -> None:
        """Makes a structure of each row."""
        for path, array in self.arrays.items():
            if path.startswith(TEXTURE_PREFIX):
                kind = getattr(wp, path.split(".")[1])
                self.textures[kind] = [kind(row, device="cpu") for row in array.numpy()]
        kinds = {path.rpartition(".")[0] + "." for path in self.arrays if not path.startswith(TEXTURE_PREFIX)}
        if len(kinds) > 1:
            raise ValueError("identifiers of different kinds of structures cannot be told apart")
        makers = {
            MESH_PREFIX: self.make_meshes,
            GRID_PREFIX: self.make_grids,
            BVH_PREFIX: self.make_hierarchies,
            VOLUME_PREFIX: self.make_volumes,
        }
        for kind in kinds:
            makers[kind]()

    def rows(self, prefix: str, name: str) -> np.ndarray | None:
        """Returns an array of all structures; None if the kernel does not use it."""
        array = self.arrays.get(prefix + name)
        return None if array is None else array.numpy()

    def make_meshes(self) -> None:
        """Makes a mesh of each row. A kernel may use only some of the arrays; the others are empty."""
        indices = self.arrays[MESH_PREFIX + "indices"]
        vectors = [self.arrays.get(MESH_PREFIX + name) for name in ("points", "velocities")]
        rows = min(array.shape[0] for path, array in self.arrays.items() if path != MESH_PREFIX + "order")
        groups, winds = self.rows(MESH_PREFIX, "groups"), "winding_number" in self.source
        count = max([int(indices.numpy().max(initial=0)) + 1] + [array.shape[1] for array in vectors if array])
        for row in range(rows):
            points, velocities = (
                wp.zeros(count, dtype=wp.vec3, device="cpu") if array is None else wp.clone(array[row])
                for array in vectors
            )
            faces = wp.clone(indices[row])
            given = None if groups is None else wp.array(groups[row], dtype=wp.int32, device="cpu")
            self.made.append(wp.Mesh(points, faces, velocities, support_winding_number=winds, groups=given))

    def make_grids(self) -> None:
        """Makes a hash grid of each row. The points are the centers of their cells."""
        uses = {dtype: any(word in self.source for word in words) for dtype, words in GRID_TYPES.items()}
        dtype = next((dtype for dtype, is_used in uses.items() if is_used), wp.float32)
        widths, cells = self.rows(GRID_PREFIX, "widths"), self.rows(GRID_PREFIX, "cells")
        dims, groups = self.rows(GRID_PREFIX, "dims"), self.rows(GRID_PREFIX, "groups")
        count = self.arrays[GRID_PREFIX + "order"].shape[0]
        for row in range(min(len(each) for each in (widths, cells, dims, groups) if each is not None)):
            grid = wp.HashGrid(*([4, 4, 4] if dims is None else dims[row].tolist()), device="cpu", dtype=dtype)
            width = float(widths[row])
            centers = np.zeros((count, 3)) if cells is None else (cells[row, :count] + 0.5) * width
            points = wp.array(centers, dtype=wp.types.vector(3, dtype), device="cpu")
            given = None if groups is None else wp.array(groups[row, :count], dtype=wp.int32, device="cpu")
            grid.build(points, width, given)
            self.made.append(grid)

    def make_hierarchies(self) -> None:
        """Makes a hierarchy of the boxes of each row."""
        lowers, uppers, groups = (self.rows(BVH_PREFIX, name) for name in ("lowers", "uppers", "groups"))
        count = self.arrays[BVH_PREFIX + "order"].shape[0]
        for row in range(min(len(each) for each in (lowers, uppers, groups) if each is not None)):
            corners = [wp.array(each[row, :count], dtype=wp.vec3, device="cpu") for each in (lowers, uppers)]
            given = None if groups is None else wp.array(groups[row, :count], dtype=wp.int32, device="cpu")
            self.made.append(wp.Bvh(*corners, groups=given))

    def make_volumes(self) -> None:
        """Makes a volume of each row. All volumes have values of one type, or number their voxels."""
        kinds = [name for name in ("extents", *self.VOLUME_VALUES) if VOLUME_PREFIX + name in self.arrays]
        if len(kinds) > 1:
            raise ValueError("identifiers of volumes of different types cannot be told apart")
        sizes, origins = (self.rows(VOLUME_PREFIX, name) for name in ("sizes", "origins"))
        rows = min(array.shape[0] for path, array in self.arrays.items() if path.startswith(VOLUME_PREFIX))
        values = self.rows(VOLUME_PREFIX, kinds[0] if kinds else "floats")
        for row in range(rows):
            size = [1.0] * 3 if sizes is None else sizes[row].tolist()
            origin = [0.0] * 3 if origins is None else origins[row].tolist()
            if kinds == ["extents"]:
                voxels = wp.array(np.argwhere(np.ones(values[row])), dtype=wp.vec3i, device="cpu")
                self.made.append(wp.Volume.allocate_by_voxels(voxels, size, origin, device="cpu"))
                continue
            background = self.VOLUME_VALUES[kinds[0]][0] if kinds else 0.0
            content = np.zeros((1, 1, 1), np.float32) if values is None else values[row]
            self.made.append(wp.Volume.load_from_numpy(content, origin, size, background, device="cpu"))

    def fetch(self) -> None:
        """Copies the values of the voxels, which the kernel may have changed, to the plan's arrays."""
        for name, (_, reader) in self.VOLUME_VALUES.items():
            array = self.arrays.get(VOLUME_PREFIX + name)
            for row in range(0 if array is None else min(len(self.made), array.shape[0])):
                wp.launch(reader, array.shape[1:], inputs=[self.made[row].id, array[row]], device="cpu")

    def texture(self, kind: Any, raw: bytes) -> Any:
        """Returns the texture with the number; the type of a texture that the kernel does not sample has no rows."""
        rows = self.textures.get(kind, [])
        return rows[int(np.frombuffer(raw, np.uint64)[0]) % len(rows)] if rows else kind()

    def identifiers(self, raw: bytes) -> bytes:
        """Replaces the identifiers of the plan by those of Warp; 0 and others without a row stay the same."""
        ids = {number + 1: each.id for number, each in enumerate(self.made)}
        given = np.frombuffer(raw, np.uint64)
        return np.array([ids.get(int(value), int(value)) for value in given], np.uint64).tobytes()


class Launch:
    """One launch of the plan with its arguments in Warp's memory."""

    def __init__(self, kernel: wp.Kernel, plan: dict[str, Any], folder: pathlib.Path, with_gradient: bool) -> None:
        self.kernel = kernel
        self.extents = tuple(plan["extents"])
        self.tiled = plan["tiled"]
        self.block_dim = plan["block_dim"]
        self.parameters = plan["parameters"]
        self.values: list[Any] = []
        self.block_size: int | None = None  # None: Warp's default
        self.cotangents: dict[int, bytes] = {}  # by number of the parameter
        data = (folder / plan["data"]).read_bytes()
        position = 0
        self.inputs = Inputs(kernel)
        self.structures = Structures(kernel)
        self.handles: dict[int, tuple[bytes, bytes]] = {}  # by number of an array: given and passed identifiers
        raws: list[bytes] = []
        for number, parameter in enumerate(self.parameters):
            raws.append(data[position : position + parameter["bytes"]])
            position += parameter["bytes"]
            if parameter["seeded"]:
                self.cotangents[number] = data[position : position + parameter["bytes"]]
                position += parameter["bytes"]
            self.structures.add(parameter, raws[-1])
        self.structures.make()
        for number, (parameter, given) in enumerate(zip(self.parameters, raws, strict=True)):
            if (parameter["path"] or "").startswith(Structures.PREFIXES):
                self.values.append(self.structures.arrays[parameter["path"]])
                continue
            raw = given
            if parameter["path"] == BLOCK_SIZE:
                self.block_size = int(np.frombuffer(raw, np.int32)[0])
                self.values.append(self.block_size)
                continue
            kind = self.inputs.next_type(parameter["path"])
            if wp.uint64 in (kind, getattr(kind, "dtype", None)):
                raw = self.structures.identifiers(raw)
            if kind in TEXTURE_TYPES:
                self.values.append(self.inputs.add(self.structures.texture(kind, raw)))
                continue
            if parameter["shape"] is None:
                self.values.append(self.inputs.add(value_argument(kind, raw)))
                continue
            self.handles[number] = (given, raw)
            wants_gradient = with_gradient and parameter["differentiable"]
            array = array_argument(kind.dtype, parameter["shape"], raw, wants_gradient)
            self.values.append(array)
            if isinstance(kind, wp.fabricarray):
                if with_gradient:
                    raise ValueError("fabric arrays have no gradients in Warp")
                self.inputs.add(fabric_array(array))
            else:
                self.inputs.add(array)

    def run(self) -> None:
        """Launches the kernel."""
        if self.tiled:
            wp.launch_tiled(
                self.kernel, dim=self.extents, inputs=self.inputs.all(), block_dim=self.block_dim, device="cpu"
            )
        else:
            block = {} if self.block_size is None else {"block_dim": self.block_size}
            wp.launch(self.kernel, dim=self.extents, inputs=self.inputs.all(), device="cpu", **block)

    def arrays(self) -> list[tuple[wp.array, int]]:
        """Returns the arrays in the order of the parameters, each with its size in bytes."""
        return [
            (value, parameter["bytes"])
            for value, parameter in zip(self.values, self.parameters, strict=True)
            if parameter["shape"] is not None
        ]

    def forward(self) -> bytes:
        """Runs the forward pass and returns the contents of the arrays."""
        self.run()
        self.inputs.fetch()
        self.structures.fetch()
        contents = []
        for number, (value, parameter) in enumerate(zip(self.values, self.parameters, strict=True)):
            if parameter["shape"] is None:
                continue
            given, passed = self.handles.get(number, (b"", b""))
            found = content(value, parameter["bytes"])
            contents.append(given if found == passed else found)
        return b"".join(contents)

    def backward(self) -> bytes:
        """Runs both passes and returns the contents of the gradients, zeros for an array without a gradient."""
        with wp.Tape() as tape:
            self.run()
        for number, cotangent in self.cotangents.items():
            if self.parameters[number]["differentiable"]:
                fill(self.values[number].grad, cotangent)
        tape.backward()
        self.inputs.fetch()
        return b"".join(
            bytes(size) if array.grad is None else content(array.grad, size) for array, size in self.arrays()
        )


class Case:
    """One kernel of the plan."""

    def __init__(self, plan: dict[str, Any], folder: pathlib.Path, limit: int) -> None:
        self.plan = plan
        self.folder = folder
        self.limit = limit
        self.answers = folder / "answers"

    def note(self, launch: int | None, which: str | None, status: str, message: str = "") -> None:
        """Appends the status of a pass to the answers; `launch` and `which` are None if it applies to the whole case.

        Parameters
        ----------
        launch
            The number of the launch.
        which
            The pass: "forward" or "backward".
        status
            "done", "refused", "crashed" or "timed_out".
        message
            The reason, unless the status is "done".
        """
        line = json.dumps({"launch": launch, "pass": which, "status": status, "message": message[:4000]})
        with open(self.answers / (self.plan["name"] + ".jsonl"), "a", encoding="utf-8") as stream:
            stream.write(line + "\n")

    def run(self) -> None:
        """Compiles the kernel and runs all passes of its launches."""
        try:
            kernel = load_kernel(self.plan, self.folder)
            wp.load_module(kernel.module, device="cpu")
        except Exception as error:
            self.note(None, None, "refused", f"{type(error).__name__}: {error}")
            return
        for number, launch in enumerate(self.plan["launches"]):
            self.run_apart(kernel, number, launch, "forward")
            if launch["gradient"]:
                self.run_apart(kernel, number, launch, "backward")

    def run_apart(self, kernel: wp.Kernel, number: int, launch: dict[str, Any], which: str) -> None:
        """Runs one pass in a separate process and records its status if the process crashes or times out."""
        process = os.fork()
        if process == 0:
            signal.alarm(self.limit)
            self.answer(kernel, number, launch, which)
            os._exit(0)
        status = os.waitpid(process, 0)[1]
        if os.WIFSIGNALED(status):
            ended_by = signal.Signals(os.WTERMSIG(status))
            self.note(number, which, "timed_out" if ended_by == signal.SIGALRM else "crashed", ended_by.name)
        elif os.WEXITSTATUS(status) != 0:
            self.note(number, which, "crashed", f"exit status {os.WEXITSTATUS(status)}")

    def answer(self, kernel: wp.Kernel, number: int, launch: dict[str, Any], which: str) -> None:
        """Runs one pass in this process, writes the resulting bytes and records the status."""
        try:
            prepared = Launch(kernel, launch, self.folder, which == "backward")
            data = prepared.backward() if which == "backward" else prepared.forward()
        except Exception as error:
            self.note(number, which, "refused", f"{type(error).__name__}: {error}")
            return
        (self.answers / f"{self.plan['name']}_{number}_{which}.bin").write_bytes(data)
        self.note(number, which, "done")


def run_plan(folder: pathlib.Path, jobs: int, limit: int) -> None:
    """Runs all cases of the plan.

    Parameters
    ----------
    folder
        The folder with plan.json.
    jobs
        The number of processes that compile kernels; all cases of a source file run in the same process.
    limit
        The time limit of one pass in seconds.
    """
    cases = [
        Case(plan, folder, limit) for plan in json.loads((folder / "plan.json").read_text(encoding="utf-8"))["cases"]
    ]
    sources = list(dict.fromkeys(case.plan["source"] for case in cases))
    for worker in range(jobs):
        if os.fork() == 0:
            own = set(sources[worker::jobs])
            for case in cases:
                if case.plan["source"] in own:
                    case.run()
            sys.stdout.flush()
            os._exit(0)
    failed = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(jobs)]
    if any(failed):
        sys.exit(f"processes that compile kernels ended with {failed}")


def signatures() -> dict[str, list[str]]:
    """Returns the parameter names of each overload of Warp's functions, separated by spaces, by function name."""
    return {
        name: sorted({" ".join(overload.input_types) for overload in getattr(function, "overloads", [function])})
        for name, function in wp._src.context.builtin_functions.items()
    }


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=60, help="seconds for one pass of one launch")
    parser.add_argument("--cache", help="folder for Warp's compiled kernels")
    parser.add_argument("--version", action="store_true", help="print Warp's version")
    parser.add_argument("--signatures", action="store_true", help="print the parameter names of Warp's functions")
    arguments = parser.parse_args()
    if arguments.version:
        print(wp.config.version)
        return
    if arguments.signatures:
        print(json.dumps(signatures()))
        return
    if arguments.folder is None:
        parser.error("FOLDER is missing")
    wp.config.quiet = True
    wp.config.enable_cpu_blocks = True
    wp.config.kernel_cache_dir = arguments.cache
    wp.init()
    answers = arguments.folder / "answers"
    answers.mkdir(exist_ok=True)
    session = {
        "warp": wp.config.version,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    (answers / "session.json").write_text(json.dumps(session), encoding="utf-8")
    run_plan(arguments.folder, arguments.jobs, arguments.limit)


if __name__ == "__main__":
    main()
