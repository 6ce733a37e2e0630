"""Generates the C++ and CUDA C++ of kernels with the installed Warp, for comparison with the rows of a dataset.

The program ``assay`` runs this file in a confined process with the path of a file of requests: one JSON object per
line, with the members ``row``, ``python``, ``kernel``, ``options``, ``cpp_block`` and ``targets``. File descriptor 3
receives a line that says that Warp was started, and then one JSON object for each request. Each Python source is
executed in a child process with a time limit, so that a source that crashes or never ends affects only its own row.
"""

from __future__ import annotations

import ast
import ctypes
import gc
import importlib.util
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import warp as wp
from warp._src.context import Kernel, Module, ModuleBuilder

ANSWER_FD = 3
MAX_ANSWER = 64 << 20
PR_SET_DUMPABLE = 4
# Only code for tiles depends on the architecture.
ARCHITECTURE = 80


class Rejected(Exception):
    """The row has no generated code.

    Attributes
    ----------
    status
        Why, as the answer names it.
    line
        Line of the Python source, or 0.
    """

    def __init__(self, status: str, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.line = line


def first_line(error: BaseException) -> str:
    """Return the type and the first line of the message of an exception."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0] if text else ''}"


def line_in(path: Path, error: BaseException) -> int:
    """Return the innermost line of a file that an exception passed through, or 0."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] or 0 if lines else 0


def load(path: Path, source: str) -> list[Kernel]:
    """Execute a source as a module and return the kernels that it defines, in the order of their definitions."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise Rejected("python_syntax", getattr(error, "msg", str(error)), getattr(error, "lineno", 0) or 0) from error
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    created: list[Kernel] = []
    original = Kernel.__init__

    def note(self: Kernel, *arguments: Any, **keywords: Any) -> None:
        original(self, *arguments, **keywords)
        created.append(self)

    Kernel.__init__ = note
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        raise Rejected("python_error", first_line(error), line_in(path, error)) from error
    finally:
        Kernel.__init__ = original
    return created


def choose(kernels: list[Kernel], name: str) -> Kernel:
    """Return the kernel with a name, or the only kernel if the name is empty."""
    keys = list(dict.fromkeys(kernel.key for kernel in kernels))
    if not name and len(keys) != 1:
        raise Rejected("kernel_not_found", f"the source must define one kernel, got {len(keys)}")
    chosen = [kernel for kernel in kernels if not name or kernel.key == name]
    if not chosen:
        defined = ", ".join(keys) or "no kernel"
        raise Rejected("kernel_not_found", f"the source does not define '{name}'; it defines {defined}")
    return chosen[-1]


def generated(module: Module, target: str, block: int) -> str:
    """Return the text that Warp generates for a module: ``target`` is ``cpu`` or ``cuda``."""
    options = module.resolve_options(wp.config, block_dim=block)
    options = options | {"output_arch": None if target == "cpu" else ARCHITECTURE}
    return ModuleBuilder(module, options, target=target).codegen(target)


def answer_of(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the generated code of one request."""
    kernel = choose(load(folder / f"row_{request['row']}.py", request["python"]), request["kernel"])
    try:
        module = kernel.module
        for name, value in request["options"].items():
            if name not in module.options:
                raise Rejected("warp_rejects", f"Warp {wp.config.version} has no module option '{name}'")
            module.options[name] = value
        if kernel.is_generic and not kernel.overloads:
            raise Rejected("warp_rejects", f"kernel '{kernel.key}' is generic and has no overload")
        block = module.options["block_dim"]
        # Warp launches kernels on the CPU with blocks of one thread, but a text can be generated for larger blocks.
        blocks = {"cpu": block if request["cpp_block"] == block else 1, "cuda": block}
        texts = {target: generated(module, target, blocks[target]) for target in request["targets"]}
        built = next(iter(kernel.overloads.values())) if kernel.is_generic else kernel
    except Rejected:
        raise
    except BaseException as error:
        raise Rejected("warp_rejects", first_line(error)) from error
    return {"status": "generated", "kernel": kernel.key, "mangled": built.get_mangled_name(), **texts}


def run_child(request: dict[str, Any], folder: Path, seconds: int, out: int) -> None:
    """Write the answer to a request to a pipe. Runs in the child process, which the caller ends."""
    os.close(ANSWER_FD)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    try:
        answer = answer_of(request, folder)
    except Rejected as error:
        # The same source gives the same message, wherever its file is.
        message = str(error).replace(str(folder / f"row_{request['row']}"), "row")
        answer = {"status": error.status, "message": message, "line": error.line}
    except BaseException as error:
        answer = {"status": "python_error", "message": first_line(error), "line": 0}
    data = json.dumps(answer).encode()
    while data:
        data = data[os.write(out, data) :]


def collect(source: int, deadline: float) -> bytes | None:
    """Return everything that a pipe receives until its end, or ``None`` at the deadline."""
    data = b""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([source], [], [], left)[0]:
            return None
        piece = os.read(source, 1 << 16)
        if not piece:
            return data
        data += piece
        if len(data) > MAX_ANSWER:
            return None


def answer_in_child(request: dict[str, Any], folder: Path, seconds: int) -> dict[str, Any]:
    """Answer a request in a child process with a time limit."""
    source, out = os.pipe()
    # Neither process collects garbage in the pages that they share, which would copy these pages.
    gc.freeze()
    child = os.fork()
    if child == 0:
        gc.disable()
        try:
            os.close(source)
            run_child(request, folder, seconds, out)
        finally:
            os._exit(0)
    os.close(out)
    data = collect(source, time.monotonic() + 3 * seconds)
    os.close(source)
    if data is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    try:
        return json.loads(data or b"")
    except ValueError:
        pass
    if data is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return {"status": "python_error", "message": f"the source did not finish within {seconds} s", "line": 0}
    end = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no result"
    return {"status": "python_error", "message": f"the source ended the process: {end}", "line": 0}


def main(requests: Path, seconds: int) -> None:
    """Answer every request of a file."""
    wp.config.log_level = wp.LOG_ERROR
    wp.init()
    # The children execute code of the dataset: they must not reach the descriptors of this process through /proc.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    with requests.open(encoding="utf-8") as lines, os.fdopen(ANSWER_FD, "w", encoding="utf-8") as answers:
        answers.write('{"started": true}\n')
        answers.flush()
        for line in lines:
            request = json.loads(line)
            answer = answer_in_child(request, requests.parent / "cache", seconds)
            answers.write(json.dumps({"row": request["row"], **answer}) + "\n")
            answers.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
