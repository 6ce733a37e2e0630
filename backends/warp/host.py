"""Builds and runs kernels in NVIDIA Warp for Assay's devices `warp-cpu`, `warp-ptx` and `warp-cuda`.

Usage: host.py build FOLDER KERNEL...   build kernels; prints one JSON line before and one after each
       host.py text FOLDER KERNEL...    write the code that Warp generates to KERNEL.text.json; prints the same lines
       host.py serve                    run launches for the parent process, which made the descriptors 3 and 4

FOLDER contains settings.json and, for each KERNEL, KERNEL.py with one kernel and KERNEL.json with its binding. If there
is the user's file, KERNEL.source, the kernel is taken from it if possible (kernel_text.py). See builder.cpp.
"""

import contextlib
import ctypes
import gc
import hashlib
import importlib.util
import json
import mmap
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterator

import kernel_text
import numpy as np
import warp as wp

CONTROL_FD = 3
MEMORY_FD = 4


class Settings:
    """The settings of a folder: Warp's kernel cache, target architectures and the layout of the shared memory."""

    def __init__(self, folder: pathlib.Path) -> None:
        values = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        self.cache: str = values["cache"]
        self.device: str = values["device"]
        self.warp_device: str = values["warp_device"]
        self.architectures: list[int] = values["architectures"]
        self.protocol: dict[str, int] = values["protocol"]


def start_warp(settings: Settings) -> None:
    """Initialises Warp without messages on standard output."""
    wp.config.log_level = wp.LOG_ERROR
    wp.config.kernel_cache_dir = settings.cache
    # Otherwise Warp prints the errors of launches and goes on.
    wp.config.verify_cuda = settings.warp_device.startswith("cuda")
    wp.init()


CHECKSUMS = "assay-checksums.json"
OBJECTS = (".o", ".ptx", ".cubin")


def checksums_of(folder: pathlib.Path) -> dict[str, str]:
    """Return the hash of each built file in a folder of the kernel cache."""
    built = (path for path in folder.iterdir() if path.suffix in (*OBJECTS, ".meta"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in built}


def write_checksums(folder: pathlib.Path) -> None:
    """Write the hashes of the built files of a folder, unless they are there."""
    file = folder / CHECKSUMS
    sums = checksums_of(folder)
    if file.exists() and json.loads(file.read_text(encoding="utf-8")) == sums:
        return
    temporary = file.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(sums), encoding="utf-8")
    temporary.replace(file)


def discard_damaged(folder: pathlib.Path) -> None:
    """Remove a folder of the kernel cache whose built files are not those that were written."""
    file = folder / CHECKSUMS
    try:
        is_intact = not file.exists() or checksums_of(folder).items() >= json.loads(file.read_bytes()).items()
    except ValueError:
        is_intact = False
    if not is_intact:
        shutil.rmtree(folder)


class LoadedKernel:
    """A kernel of a file, and how the parameters of Assay's launches map to its arguments."""

    def __init__(self, path: pathlib.Path, device: str) -> None:
        self.device = device
        self.binding = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        name = self.binding["module"]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        self.kernel = kernel_text.kernel_in(module, self.binding)
        if not self.binding["has_backward"]:
            self.kernel.module.options["enable_backward"] = False
        self.code = path.with_suffix(".code")

    def build(self) -> None:
        """Compiles the module if the cache does not contain it, and loads it."""
        for folder in self.cache_folders():
            discard_damaged(folder)
        self.load()
        for folder in self.cache_folders():
            write_checksums(folder)

    def load(self) -> None:
        """Compiles the module, or loads it from the cache."""
        with self.replaced_code():
            wp.load_module(self.kernel.module, device=self.device, block_dim=self.block_dim())

    def block_dim(self) -> int:
        """Return the threads of a block; one on the CPU."""
        return 1 if self.device == "cpu" else self.binding["block_dim"]

    def cache_folders(self) -> list[pathlib.Path]:
        """Return the folders of the kernel cache with code of the module for the device."""
        cache = self.code.with_suffix(".cache") if self.code.exists() else pathlib.Path(wp.config.kernel_cache_dir)
        return [
            path for path in cache.glob(f"wp_{self.kernel.module.name}_*") if re.fullmatch(r".*_[0-9a-f]+", path.name)
        ]

    @contextlib.contextmanager
    def replaced_code(self) -> Iterator[None]:
        """Builds with the code of KERNEL.code, if there is that file, instead of the code that Warp generates.

        Such builds have a cache of their own, because Warp's keys depend on the Python only.
        """
        if not self.code.exists():
            yield
            return
        native = wp._src.build
        before = native.build_cpu, native.build_cuda, wp.config.kernel_cache_dir

        def build_cpu(obj_path: str, cpp_path: str, *arguments: object, **options: object) -> None:
            shutil.copyfile(self.code, cpp_path)
            before[0](obj_path, cpp_path, *arguments, **options)

        def build_cuda(cu_path: str, *arguments: object, **options: object) -> None:
            shutil.copyfile(self.code, cu_path)
            before[1](cu_path, *arguments, **options)

        native.build_cpu, native.build_cuda = build_cpu, build_cuda
        wp.config.kernel_cache_dir = str(self.code.with_suffix(".cache"))
        try:
            yield
        finally:
            native.build_cpu, native.build_cuda, wp.config.kernel_cache_dir = before

    def object_hash(self) -> str:
        """Hash of the compiled file, without the name of the module, which depends on more than the code."""
        name = self.kernel.module.name
        objects = [path for folder in self.cache_folders() for path in folder.iterdir() if path.suffix in OBJECTS]
        newest = max(objects, key=lambda path: path.stat().st_mtime_ns)
        return hashlib.sha256(newest.read_bytes().replace(name.encode(), b"")).hexdigest()


# ---------------------------------------------------------------------------------------------------------------- build


def is_build_error(error: BaseException) -> bool:
    """Whether the native compiler rejected Warp's generated code, and not Warp the Python source."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and pathlib.Path(frames[-1].filename).name == "build.py"


def reason_of(error: BaseException) -> str:
    """Why a kernel was rejected, in one line: Warp's message shows the place and the source before the reason."""
    lines = [line.strip().lstrip(";") for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith("Error while parsing function"):
        own = re.search(r"own\.py:(\d+):", lines[0])  # its lines are those of the user's file
        place = f", line {own[1]}" if own else ""
        lines = [f"{lines[-1]} (in '{lines[1]}'{place})" if len(lines) > 2 else lines[-1]]
    return f"{type(error).__name__}: " + "\n".join(lines)


def offsets_of(structure: type[ctypes.Structure]) -> dict[str, int]:
    """The offset of each field of a ctypes structure."""
    return {name: getattr(structure, name).offset for name, *_ in structure._fields_}


def argument_layout(kind: object) -> dict[str, object]:
    """The layout of one kernel argument as Warp passes it to a GPU: its size and the offsets of a struct's fields."""
    if kernel_text.is_array(kind):
        return {"bytes": ctypes.sizeof(wp._src.types.array_t), "fields": {}}
    if isinstance(kind, wp._src.codegen.Struct):
        fields: dict[str, int] = {}
        add_field_offsets(kind, "", 0, fields)
        return {"bytes": ctypes.sizeof(kind.ctype), "fields": fields}
    return {"bytes": wp._src.types.type_size_in_bytes(kind), "fields": {}}


def add_field_offsets(struct: object, path: str, base: int, fields: dict[str, int]) -> None:
    """Adds the offset of each field of a struct, by the path to the field."""
    for name, variable in struct.vars.items():
        offset = base + getattr(struct.ctype, name).offset
        fields[path + name] = offset
        if isinstance(variable.type, wp._src.codegen.Struct):
            add_field_offsets(variable.type, path + name + ".", offset, fields)


def build_ptx(loaded: LoadedKernel, settings: Settings, name: str) -> dict[str, object]:
    """Compiles a kernel to PTX for each architecture; returns the files, the entry points and the parameters."""
    module = loaded.kernel.module
    block_dim = loaded.binding["block_dim"]
    module.options["block_dim"] = block_dim
    output = pathlib.Path(wp.config.kernel_cache_dir) / (name + ".ptx.d")
    discard_damaged(output)
    with loaded.replaced_code():
        wp.compile_aot_module(module, arch=settings.architectures, use_ptx=True, module_dir=output)
    write_checksums(output)
    mangled = loaded.kernel.get_mangled_name()
    meta = json.loads(next(output.glob("*.meta")).read_text(encoding="utf-8"))
    dimensions = loaded.kernel.adj.kernel_dim
    bounds = type(wp._src.types.launch_bounds_t((1,) * dimensions))
    passes = ("forward", "backward") if loaded.binding["has_backward"] else ("forward",)
    return {
        "ptx": {f"compute_{arch}": str(next(output.glob(f"*.sm{arch}*.ptx"))) for arch in settings.architectures},
        "forward": mangled + "_cuda_kernel_forward",
        "backward": mangled + "_cuda_kernel_backward",
        "shared_bytes": {name: meta[f"{mangled}_cuda_kernel_{name}_smem_bytes"] for name in passes},
        "dimensions": dimensions,
        "bounds": {"bytes": ctypes.sizeof(bounds), **offsets_of(bounds)},
        "array": {"bytes": ctypes.sizeof(wp._src.types.array_t), **offsets_of(wp._src.types.array_t)},
        "arguments": [argument_layout(variable.type) for variable in loaded.kernel.adj.args],
    }


class GeneratedError(BaseException):
    """Ends a build when Warp has written its code; not an Exception, so that Warp does not record a failed build."""


def captured_source(module: object, target: str, block_dim: int) -> str:
    """Return the file that Warp writes and compiles for a target; compiles nothing."""
    captured: list[str] = []

    def capture(path: str) -> None:
        captured.append(pathlib.Path(path).read_text(encoding="utf-8"))
        raise GeneratedError

    module.options["block_dim"] = block_dim
    native = wp._src.build
    compilers = native.build_cpu, native.build_cuda
    native.build_cpu = lambda obj_path, cpp_path, *_, **__: capture(cpp_path)
    native.build_cuda = lambda cu_path, *_, **__: capture(cu_path)
    try:
        if target == "cpu":
            wp.load_module(module, device="cpu", block_dim=block_dim)
        else:
            output = pathlib.Path(wp.config.kernel_cache_dir) / (module.name + ".cuda")
            wp.compile_aot_module(module, arch=[75], use_ptx=True, module_dir=output)
    except GeneratedError:
        return captured[0]
    finally:
        native.build_cpu, native.build_cuda = compilers
    raise RuntimeError(f"Warp generated no code for {target}")


def function_in(source: str, symbol: str) -> str:
    """Return the definition of a function in generated code, empty if there is none."""
    at = source.find(f" {symbol}(\n")
    return "" if at < 0 else source[source.rindex("\n\n", 0, at) + 2 : source.index("\n}\n", at) + 3]


def write_text(loaded: LoadedKernel, path: pathlib.Path) -> None:
    """Write the code that Warp generates for a kernel. Comments name the Python file after the kernel."""
    texts: dict[str, str] = {}
    for target, block_dim in (("cpu", 1), ("cuda", loaded.binding["block_dim"])):
        source = captured_source(loaded.kernel.module, target, block_dim)
        source = source.replace(f"// {path}:", f"// {loaded.binding['kernel']}.py:")
        texts[f"{target}_source"] = source
        mangled = loaded.kernel.get_mangled_name()
        for direction in ("forward", "backward"):
            texts[f"{target}_{direction}"] = function_in(source, f"{mangled}_{target}_kernel_{direction}")
    path.with_suffix(".text.json").write_text(json.dumps(texts), encoding="utf-8")


def load_own_text(path: pathlib.Path, device: str, text: dict[str, object]) -> LoadedKernel | None:
    """Load the kernel from the user's file, if there is one that can be used; describe the outcome in `text`."""
    if not path.with_suffix(".source").exists():
        return None
    try:
        own = kernel_text.write_own_text(path)
    except Exception as error:
        is_known = isinstance(error, kernel_text.NotUsableError)
        text["obstacle"] = str(error) if is_known else f"internal error of Assay: {reason_of(error)}"
        return None
    try:
        loaded = LoadedKernel(own, device)
        kernel_text.check_arguments(loaded.kernel, loaded.binding)
    except Exception as error:
        text["obstacle"] = str(error) if isinstance(error, kernel_text.NotUsableError) else reason_of(error)
        return None
    kernel_text.apply_options(loaded.kernel, loaded.binding, own)
    text.update(file=own.stem, has_backward=loaded.binding["has_backward"])
    return loaded


def build_or_write(path: pathlib.Path, settings: Settings, command: str) -> dict[str, object]:
    """Build the kernel of a file, or write its generated code; return the members of the answer."""
    text: dict[str, object] = {}
    try:
        loaded = load_own_text(path, settings.warp_device, text) or LoadedKernel(path, settings.warp_device)
        if command == "text":
            write_text(loaded, path)
            return {"status": "built"}
        if settings.architectures:
            return {"status": "built", "code": build_ptx(loaded, settings, text.get("file", path.stem)), "text": text}
        loaded.build()
        return {"status": "built", "code": {"object": loaded.object_hash()}, "text": text}
    except Exception as error:
        status = "rejected" if is_build_error(error) else "unsupported"
        return {"status": status, "message": reason_of(error), "text": text}


def build(folder: pathlib.Path, names: list[str], command: str) -> None:
    """Builds kernels and prints the results; a kernel whose start but not whose end is printed ended the process."""
    settings = Settings(folder)
    start_warp(settings)
    for name in names:
        print(json.dumps({"kernel": name, "status": "started"}), flush=True)
        # Warp numbers functions of equal names in a process, so the text of a kernel depends on the kernels before it.
        process = os.fork() if command == "text" else 0
        if process != 0:
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            if status != 0:
                how = f"exited with status {status}" if status > 0 else f"was killed by {signal.Signals(-status).name}"
                sys.exit(f"the process that generates the code {how}")
            continue
        answer = {"kernel": name, **build_or_write(folder / (name + ".py"), settings, command)}
        print("\n" + json.dumps(answer), flush=True)
        if command == "text":
            os._exit(0)


# ---------------------------------------------------------------------------------------------------------------- serve


class Record(ctypes.Structure):
    """One launch in the command area; worker::LaunchRecord."""

    _fields_ = [
        *(
            (name, ctypes.c_uint32)
            for name in (
                "size",
                "code_offset",
                "symbol_offset",
                "arguments_offset",
                "argument_count",
                "pointers_offset",
                "pointer_count",
                "blob_offset",
                "blob_bytes",
                "order",
            )
        ),
        *((name, ctypes.c_int64) for name in ("threads", "block", "block_threads")),
        ("shuffle_seed", ctypes.c_uint64),
        ("samples", ctypes.c_int64),
        ("checked_threads_offset", ctypes.c_uint32),
        ("checked_threads_count", ctypes.c_uint32),
    ]


PENDING, STARTED, COMPLETED, REJECTED, FAULTED, CRASHED, TIMED_OUT, RESOURCE_ERROR = range(8)


class SharedMemory:
    """The control block, the commands and the buffers that the parent maps as well."""

    def __init__(self, protocol: dict[str, int]) -> None:
        self.protocol = protocol
        size = os.fstat(MEMORY_FD).st_size
        self.map = mmap.mmap(MEMORY_FD, size)
        os.close(MEMORY_FD)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.buffers = self.base + protocol["buffers"]

    def set_progress(self, launch: int, progress: int, nanoseconds: int = 0) -> None:
        """Record how far a launch is."""
        row = self.base + self.protocol["rows"] + launch * self.protocol["row_bytes"]
        ctypes.c_int64.from_address(row + self.protocol["row_nanoseconds"]).value = nanoseconds
        ctypes.c_uint32.from_address(row).value = progress

    def progress(self, launch: int) -> int:
        """Return how far a launch is."""
        row = self.base + self.protocol["rows"] + launch * self.protocol["row_bytes"]
        return ctypes.c_uint32.from_address(row).value

    def set_message(self, message: str) -> None:
        """Record why a launch did not complete."""
        text = message.encode("utf-8", "replace")[: self.protocol["message_bytes"] - 1] + b"\0"
        ctypes.memmove(self.base + self.protocol["message"], text, len(text))

    def commands(self) -> tuple[int, list["Command"]]:
        """The processor time in seconds that the launches may use together, and the launches."""
        at = self.base + self.protocol["commands"]
        count = ctypes.c_uint32.from_address(at).value
        seconds = ctypes.c_uint32.from_address(at + 4).value
        at += 16
        launches = []
        for _ in range(count):
            launches.append(Command(at))
            at += launches[-1].size
        return seconds, launches


class Command:
    """One launch: its code, its entry point and its arguments."""

    def __init__(self, at: int) -> None:
        record = Record.from_address(at)
        self.size = record.size
        self.threads = record.threads
        self.code = ctypes.string_at(at + record.code_offset).decode()
        self.symbol = ctypes.string_at(at + record.symbol_offset).decode() if record.symbol_offset else ""
        blob = ctypes.string_at(at + record.blob_offset, record.blob_bytes)
        rows = np.frombuffer(ctypes.string_at(at + record.arguments_offset, record.argument_count * 8), np.uint32)
        pointers = np.frombuffer(ctypes.string_at(at + record.pointers_offset, record.pointer_count * 32), np.uint64)
        targets = {int(row[0]): int(row[1]) for row in pointers.reshape(-1, 4)}
        self.arguments = [
            (blob[start : start + size], targets.get(start)) for start, size in rows.reshape(-1, 2).tolist()
        ]


def extent(shape: tuple[int, ...], strides: tuple[int, ...], element: int) -> int:
    """Return the bytes from the first to the last element of an array that is not empty."""
    return sum((count - 1) * stride for count, stride in zip(shape, strides, strict=True)) + element


class Storage:
    """Bytes of the host where Warp's device can use them: the same bytes on the CPU, a copy of them on a GPU."""

    def __init__(self, address: int, size: int, device: str) -> None:
        self.host = (ctypes.c_char * size).from_address(address)
        self.address = address
        self.copy: wp.array | None = None
        if device != "cpu":
            self.copy = wp.array(np.frombuffer(self.host, np.uint8) if size else np.zeros(1, np.uint8), device=device)
            self.address = self.copy.ptr

    def fetch(self) -> None:
        """Copy the bytes back to the host."""
        if self.copy is not None:
            content = self.copy.numpy()
            ctypes.memmove(self.host, content.ctypes.data, len(self.host))


class View:
    """An array of a launch in the buffers: its address, shape and strides in bytes."""

    def __init__(self, memory: SharedMemory, argument: tuple[bytes, int | None], rank: int) -> None:
        raw, target = argument
        self.address = memory.buffers + target
        self.shape = tuple(np.frombuffer(raw, np.int32, rank, 8).tolist())
        at = 8 + (4 * rank + 7) // 8 * 8
        self.strides = tuple(np.frombuffer(raw, np.int64, rank, at).tolist())

    def items(self, size: int, offset: int = 0) -> np.ndarray:
        """Bytes of each element as a NumPy array of the same shape."""
        if 0 in self.shape:
            return np.empty(self.shape, f"V{size}")
        memory = (ctypes.c_char * extent(self.shape, self.strides, size)).from_address(self.address + offset)
        return np.ndarray(self.shape, f"V{size}", memory, 0, self.strides)

    def storage(self, element: int, device: str) -> Storage:
        """All bytes from the first to the last element, for Warp's device."""
        size = 0 if 0 in self.shape else extent(self.shape, self.strides, element)
        return Storage(self.address, size, device)


def value_of(kind: object, raw: bytes) -> object:
    """A value of a Warp type from its bytes."""
    if isinstance(kind, wp._src.codegen.Struct):
        instance = kind()
        if ctypes.sizeof(instance._ctype) != len(raw):
            raise ValueError(f"argument must have {ctypes.sizeof(instance._ctype)} bytes, got {len(raw)}")
        ctypes.memmove(ctypes.addressof(instance._ctype), raw, len(raw))
        return instance
    if issubclass(kind, ctypes.Array):  # vectors, matrices, quaternions, transforms
        return kind.from_buffer_copy(raw)
    if kind is getattr(wp, "bfloat16", None):  # NumPy has no such type: the upper half of a float32
        return kind(float(np.frombuffer(b"\0\0" + raw, np.float32)[0]))
    return np.frombuffer(raw, wp.dtype_to_numpy(kind))[0]


class Arguments:
    """The arguments of a kernel, made from parameters; a struct with arrays has one parameter for each field."""

    def __init__(self, kernel: object) -> None:
        self.left = list(kernel.adj.args)
        self.values: list[object] = []
        self.struct = None  # the name of the last argument, if it is such a struct
        self.place = None

    def next_type(self, path: str) -> object:
        """The Warp type of the next parameter, which is a field of a struct if it has a path."""
        root, *fields = path.split(".") if path else [None]
        if not fields or root != self.struct:
            variable = self.left.pop(0)
            self.struct = root
            self.values.append(variable.type() if fields else None)
            if not fields:
                self.place = None
                return variable.type
        owner = self.values[-1]
        for field in fields[:-1]:
            owner = getattr(owner, field)
        self.place = (owner, fields[-1])
        return owner._cls.vars[fields[-1]].type

    def add(self, value: object) -> None:
        """Set the argument or field that next_type returned."""
        if self.place is None:
            self.values[-1] = value
        elif isinstance(value, wp._src.codegen.StructInstance):
            # setattr(owner, ...) would copy the attributes of `value`, but value_of sets only its memory.
            setattr(self.place[0]._ctype, self.place[1], value._ctype)
        else:
            setattr(*self.place, value.item() if isinstance(value, np.generic) else value)


class Gradient:
    """The gradient array of one parameter, as Warp wants it: with the strides and element type of the parameter."""

    def __init__(self, array: wp.array, element: int) -> None:
        self.array = array
        self.element = element
        self.parts: list[tuple[View, int, int]] = []
        self.own: np.ndarray | None = None

    def add(self, view: View, offset: int, size: int) -> None:
        """Add a gradient array of the launch: of the whole element, or of a field."""
        self.parts.append((view, offset, size))

    def bind(self) -> None:
        """Gives the array a gradient: the memory of the launch if the layouts agree, otherwise a copy."""
        view, _, size = self.parts[0]
        device = str(self.array.device)
        if len(self.parts) == 1 and size == self.element and view.strides == self.array.strides:
            self.storage = view.storage(size, device)
        else:
            size = 0 if 0 in self.array.shape else extent(self.array.shape, self.array.strides, self.element)
            self.own = np.zeros(max(1, size), np.uint8)
            self.copy_parts(to_warp=True)
            self.storage = Storage(self.own.ctypes.data, size, device)
        self.array.grad = wp.array(
            ptr=self.storage.address,
            dtype=self.array.dtype,
            shape=self.array.shape,
            strides=self.array.strides,
            device=device,
        )

    def fetch(self) -> None:
        """Copies the gradient from Warp's device to the arrays of the launch."""
        self.storage.fetch()
        if self.own is not None:
            self.copy_parts(to_warp=False)

    def copy_parts(self, to_warp: bool) -> None:
        """Copy a gradient in its own memory from or to the arrays of the launch."""
        if 0 in self.array.shape:
            return
        for view, offset, size in self.parts:
            mine = np.ndarray(self.array.shape, f"V{size}", self.own, offset, self.array.strides)
            theirs = view.items(size)
            if to_warp:
                mine[...] = theirs
            else:
                theirs[...] = mine


class Launch:
    """One launch with its arguments in Warp's form."""

    def __init__(self, loaded: LoadedKernel, command: Command, memory: SharedMemory) -> None:
        binding = loaded.binding
        self.kernel = loaded.kernel
        self.device = loaded.device
        self.block_dim = loaded.block_dim()
        self.tiled = binding["tiled"]
        later = binding["dimensions"] - 1
        extents = [int.from_bytes(raw, "little") for raw, _ in command.arguments[:later]]
        others = int(np.prod(extents, dtype=np.int64))
        self.extents = (command.threads // others if others else 0, *extents)
        self.arguments = Arguments(self.kernel)
        self.arrays: list[Storage] = []
        self.gradients: list[Gradient] = []
        given = iter(command.arguments[later:])
        gradients: dict[int, list[tuple[View, int, int]]] = {}
        if command.symbol == "backward":
            first = later + len(binding["parameters"])
            for gradient, argument in zip(binding["gradients"], command.arguments[first:], strict=True):
                view = View(memory, argument, binding["parameters"][gradient["parameter"]]["rank"])
                gradients.setdefault(gradient["parameter"], []).append((view, gradient["offset"], gradient["bytes"]))
        for number, parameter in enumerate(binding["parameters"]):
            kind = self.arguments.next_type(parameter["path"])
            argument = next(given)
            if parameter["rank"] == 0:
                self.arguments.add(value_of(kind, argument[0]))
                continue
            view = View(memory, argument, parameter["rank"])
            element = wp.types.type_size_in_bytes(kind.dtype)
            storage = view.storage(element, self.device)
            array = wp.array(
                ptr=storage.address, dtype=kind.dtype, shape=view.shape, strides=view.strides, device=self.device
            )
            self.arrays.append(storage)
            if number in gradients:
                bound = Gradient(array, element)
                for part in gradients[number]:
                    bound.add(*part)
                bound.bind()
                self.gradients.append(bound)
            self.arguments.add(array)
        if self.arguments.left:
            raise ValueError(f"the launch lacks {len(self.arguments.left)} arguments")

    def start(self) -> None:
        """Launch the kernel."""
        launch = wp.launch_tiled if self.tiled else wp.launch
        launch(
            self.kernel,
            dim=self.extents,
            inputs=self.arguments.values,
            block_dim=self.block_dim,
            device=self.device,
        )

    def run(self) -> None:
        """Run the kernel."""
        self.start()
        self.fetch()

    def fetch(self) -> None:
        """Waits for the kernel and copies the arrays back from a GPU."""
        wp.synchronize_device(self.device)
        wp._src.context.runtime.verify_cuda_device(self.device)
        for array in self.arrays:
            array.fetch()

    def run_backward(self) -> None:
        """Runs the kernel on a tape, as users do, and its reverse pass; restores the arrays that the kernel wrote.

        An array that the reverse pass changes is not restored, so that the parent finds the change.
        """
        before = [bytes(array.host) for array in self.arrays]
        with wp.Tape() as tape:
            self.start()
        self.fetch()
        after = [bytes(array.host) for array in self.arrays]
        tape.backward()
        self.fetch()
        for array, old, written in zip(self.arrays, before, after, strict=True):
            if bytes(array.host) == written:
                ctypes.memmove(array.host, old, len(old))
        for gradient in self.gradients:
            gradient.fetch()


class Server:
    """Runs the launches of the parent.

    For the CPU, each round of launches runs in a process of its own. A process that uses a GPU cannot be copied, so
    this process runs the launches itself, and ends at the first that a GPU could not complete.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.settings = Settings(folder)
        self.memory = SharedMemory(self.settings.protocol)
        self.parent = socket.socket(fileno=CONTROL_FD)
        start_warp(self.settings)
        self.kernels: dict[str, LoadedKernel] = {}

    def loaded(self, code: str) -> LoadedKernel:
        """Return a kernel, which is loaded at its first use."""
        if code not in self.kernels:
            kernel = LoadedKernel(pathlib.Path(code), self.settings.warp_device)
            kernel.load()
            self.kernels[code] = kernel
        return self.kernels[code]

    def serve(self) -> None:
        """Answer the rounds of the parent until it closes its end."""
        self.parent.send(b"\1")
        while self.parent.recv(1):
            seconds, launches = self.memory.commands()
            if self.prepare(launches):
                if self.settings.warp_device == "cpu":
                    self.run_apart(seconds, launches)
                else:
                    self.run_here(seconds, launches)
            self.parent.send(b"\1")

    def prepare(self, launches: list[Command]) -> bool:
        """Loads the code of all launches. A failure rejects the first launch that needs it."""
        for number, launch in enumerate(launches):
            try:
                self.loaded(launch.code)
            except Exception as error:
                self.memory.set_message(f"{type(error).__name__}: {error}")
                self.memory.set_progress(number, REJECTED)
                return number > 0
        return True

    def run_apart(self, seconds: int, launches: list[Command]) -> None:
        """Run a round in a process of its own and record how it ended."""
        # Neither process collects garbage in the pages that they share, which would copy these pages.
        gc.freeze()
        process = os.fork()
        if process == 0:
            gc.disable()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            self.run_all(launches, seconds / len(launches) + 1)
            sys.stdout.flush()
            os._exit(0)
        status = os.waitpid(process, 0)[1]
        for number in range(len(launches)):
            if self.memory.progress(number) == COMPLETED:
                continue
            if self.memory.progress(number) <= STARTED:
                self.note_end(number, status)
            return

    def run_here(self, seconds: int, launches: list[Command]) -> None:
        """Run a round in this process, which ends at an error of the GPU, because its context is lost."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + seconds + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        for number, command in enumerate(launches):
            progress = self.run_launch(number, command)
            if progress == FAULTED:
                os._exit(0)
            if progress != COMPLETED:
                return

    def note_end(self, launch: int, status: int) -> None:
        """Record the end of a process that did not finish the launch."""
        if os.WIFSIGNALED(status):
            ended_by = os.WTERMSIG(status)
            message = f"{signal.Signals(ended_by).name} ({signal.strsignal(ended_by)})"
            progress = TIMED_OUT if ended_by == signal.SIGPROF else CRASHED
        else:
            message, progress = f"exited early with status {os.WEXITSTATUS(status)}", CRASHED
        self.memory.set_message(message)
        self.memory.set_progress(launch, progress)

    def run_all(self, launches: list[Command], limit: float) -> None:
        """Run the launches up to the first that fails, each for at most so many seconds of processor time."""
        for number, command in enumerate(launches):
            if self.memory.progress(number) != PENDING:
                return
            signal.setitimer(signal.ITIMER_PROF, limit)
            if self.run_launch(number, command) != COMPLETED:
                return

    def run_launch(self, number: int, command: Command) -> int:
        """Run a launch; record and return how it ended."""
        self.memory.set_progress(number, STARTED)
        try:
            launch = Launch(self.loaded(command.code), command, self.memory)
            start = time.perf_counter_ns()
            if command.symbol == "backward":
                launch.run_backward()
            else:
                launch.run()
            duration = time.perf_counter_ns() - start
        except Exception as error:
            # So begin Warp's messages about errors that the CUDA driver reports.
            progress = FAULTED if str(error).startswith("CUDA error") else REJECTED
            self.memory.set_message(f"{type(error).__name__}: {error}")
            self.memory.set_progress(number, progress)
            return progress
        self.memory.set_progress(number, COMPLETED, duration)
        return COMPLETED


def main() -> None:
    """Build kernels or serve launches."""
    if len(sys.argv) > 2 and sys.argv[1] in ("build", "text"):
        build(pathlib.Path(sys.argv[2]), sys.argv[3:], sys.argv[1])
    elif len(sys.argv) == 3 and sys.argv[1] == "serve":
        Server(pathlib.Path(sys.argv[2])).serve()
    else:
        sys.exit("usage: host.py build|text FOLDER KERNEL... | host.py serve FOLDER")


if __name__ == "__main__":
    main()
