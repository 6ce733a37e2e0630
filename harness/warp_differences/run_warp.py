"""Runs kernels in NVIDIA Warp on the CPU, forward and backward, and writes the resulting contents of their arrays.

Usage: run_warp.py FOLDER [--jobs N] [--limit SECONDS] [--cache FOLDER]
       run_warp.py --version
       run_warp.py --signatures

FOLDER holds plan.json and the files that it names (exchange.cpp writes them, and says what is in them). For each
case there come
    answers/<case>.jsonl                      one line per launch and pass: its status and message
    answers/<case>_<launch>_forward.bin       the arrays one after another, in the order of the parameters
    answers/<case>_<launch>_backward.bin      the same of their gradients; zero bytes for an array without one
and answers/session.json says which Warp it was. Every launch and pass runs in a process of its own, because Warp's
backward pass may write outside its arrays; what compiles the kernels is a few processes for all cases, because each
spends seconds on Warp's precompiled header.
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

import numpy as np
import warp as wp


def load_kernel(case, folder):
    """Imports the file of the case as a separate module, once for all of its cases, and returns the case's kernel."""
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


def value_argument(kind, raw):
    """A value of the parameter's Warp type from its bytes."""
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


def expect_size(size, raw):
    if size != len(raw):
        raise ValueError(f"argument must have {size} bytes in Warp's layout, got {len(raw)}")


def array_argument(dtype, shape, raw, with_gradient):
    array = wp.zeros(shape, dtype=dtype, device="cpu", requires_grad=with_gradient)
    expect_size(wp.types.type_size_in_bytes(dtype) * array.size, raw)
    fill(array, raw)
    return array


def fill(array, raw):
    if raw:
        ctypes.memmove(array.ptr, raw, len(raw))


def content(array, size):
    return ctypes.string_at(array.ptr, size) if size else b""


class IndexedArray:
    """The parts of an indexed array: the array `data`, and `indices0`, `indices1`, ... of its dimensions."""

    def __init__(self, kind):
        self.data = None
        self.kind = kind
        for dimension in range(kind.ndim):
            setattr(self, f"indices{dimension}", None)

    def part_type(self, part):
        return wp.array(dtype=self.kind.dtype if part == "data" else wp.int32)

    def made(self):
        return wp.indexedarray(self.data, [getattr(self, f"indices{d}") for d in range(self.kind.ndim)])


class Inputs:
    """Makes the arguments of a launch from the parameters of the plan: a struct with arrays has one for each field."""

    def __init__(self, kernel):
        self.left = list(kernel.adj.args)
        self.given = []
        self.struct = None  # the name of the last argument, if it is such a struct
        self.place = None

    def next_type(self, path):
        """Determines the destination of the next parameter, by its path if it is a field, and returns its Warp type."""
        root, *fields = path.split(".") if path else [None]
        if not fields or root != self.struct:
            variable = self.left.pop(0)
            self.struct = root
            is_indexed = isinstance(variable.type, wp.indexedarray)
            self.given.append(IndexedArray(variable.type) if is_indexed else variable.type() if fields else None)
            if not fields:
                self.place = None
                return variable.type
        owner = self.given[-1]
        for field in fields[:-1]:
            owner = getattr(owner, field)
        self.place = (owner, fields[-1])
        if isinstance(owner, IndexedArray):
            return owner.part_type(fields[-1])
        return owner._cls.vars[fields[-1]].type

    def add(self, value):
        if self.place is None:
            self.given[-1] = value
        else:
            setattr(*self.place, value.item() if isinstance(value, np.generic) else value)
        return value

    def all(self):
        if self.left:
            raise ValueError(f"the plan lacks {len(self.left)} arguments")
        return [given.made() if isinstance(given, IndexedArray) else given for given in self.given]


class Launch:
    """One launch of the plan with its arguments in Warp's memory."""

    def __init__(self, kernel, plan, folder, with_gradient):
        self.kernel = kernel
        self.extents = tuple(plan["extents"])
        self.tiled = plan["tiled"]
        self.parameters = plan["parameters"]
        self.values = []
        self.seeds = {}
        data = (folder / plan["data"]).read_bytes()
        position = 0
        self.inputs = Inputs(kernel)
        for number, parameter in enumerate(self.parameters):
            raw = data[position : position + parameter["bytes"]]
            position += len(raw)
            kind = self.inputs.next_type(parameter["path"])
            if parameter["shape"] is None:
                self.values.append(self.inputs.add(value_argument(kind, raw)))
                continue
            wants_gradient = with_gradient and parameter["differentiable"]
            self.values.append(
                self.inputs.add(array_argument(kind.dtype, parameter["shape"], raw, wants_gradient)))
            if parameter["seeded"]:
                self.seeds[number] = data[position : position + parameter["bytes"]]
                position += parameter["bytes"]

    def run(self):
        if self.tiled:
            wp.launch_tiled(self.kernel, dim=self.extents, inputs=self.inputs.all(), block_dim=64, device="cpu")
        else:
            wp.launch(self.kernel, dim=self.extents, inputs=self.inputs.all(), device="cpu")

    def arrays(self):
        return [(value, parameter["bytes"])
                for value, parameter in zip(self.values, self.parameters, strict=True)
                if parameter["shape"] is not None]

    def forward(self):
        self.run()
        return b"".join(content(array, size) for array, size in self.arrays())

    def backward(self):
        with wp.Tape() as tape:
            self.run()
        for number, seed in self.seeds.items():
            if self.parameters[number]["differentiable"]:
                fill(self.values[number].grad, seed)
        tape.backward()
        return b"".join(bytes(size) if array.grad is None else content(array.grad, size)
                        for array, size in self.arrays())


class Case:
    """One kernel of the plan."""

    def __init__(self, plan, folder, limit):
        self.plan = plan
        self.folder = folder
        self.limit = limit
        self.answers = folder / "answers"

    def note(self, launch, which, status, message=""):
        line = json.dumps({"launch": launch, "pass": which, "status": status, "message": message[:4000]})
        with open(self.answers / (self.plan["name"] + ".jsonl"), "a", encoding="utf-8") as stream:
            stream.write(line + "\n")

    def run(self):
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

    def run_apart(self, kernel, number, launch, which):
        """Runs one pass in a separate process and records how it ended."""
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

    def answer(self, kernel, number, launch, which):
        try:
            prepared = Launch(kernel, launch, self.folder, which == "backward")
            data = prepared.backward() if which == "backward" else prepared.forward()
        except Exception as error:
            self.note(number, which, "refused", f"{type(error).__name__}: {error}")
            return
        (self.answers / f"{self.plan['name']}_{number}_{which}.bin").write_bytes(data)
        self.note(number, which, "done")


def run_plan(folder, jobs, limit):
    cases = [Case(plan, folder, limit)
             for plan in json.loads((folder / "plan.json").read_text(encoding="utf-8"))["cases"]]
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


def signatures():
    """The parameter names of each overload of each function, separated by spaces."""
    return {name: sorted({" ".join(overload.input_types) for overload in getattr(function, "overloads", [function])})
            for name, function in wp._src.context.builtin_functions.items()}


def main():
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
    wp.config.kernel_cache_dir = arguments.cache
    wp.init()
    answers = arguments.folder / "answers"
    answers.mkdir(exist_ok=True)
    session = {"warp": wp.config.version, "numpy": np.__version__, "python": platform.python_version(),
               "machine": platform.machine()}
    (answers / "session.json").write_text(json.dumps(session), encoding="utf-8")
    run_plan(arguments.folder, arguments.jobs, arguments.limit)


if __name__ == "__main__":
    main()
