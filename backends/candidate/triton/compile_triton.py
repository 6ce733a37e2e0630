"""Compiles a Triton kernel to PTX, without a GPU and without PyTorch.

The program ``assay`` runs this file in a confined process with the path of a file that contains one JSON object, the
request. File descriptor 3 receives one JSON object: the PTX and how the kernel must be launched, or the member
``error``.
"""

from __future__ import annotations

import ast
import dis
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompilationError
from triton.runtime.jit import JITFunction, KernelInterface

ANSWER_FD = 3
INLINE_ASSEMBLY = re.compile(r"// begin inline asm\n.*?// end inline asm\n", re.DOTALL)
LOCATION = re.compile(r"^\s*\.loc\s.*\n", re.MULTILINE)


class Rejected(Exception):
    """The file or the request has an error, which the message describes."""


class PyTorchSubstitute(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Provides modules named ``torch`` whose attributes can be called, subclassed and used in expressions.

    The host code of a Triton file uses PyTorch, but its kernels do not.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the specification of a module of PyTorch."""
        if fullname.split(".")[0] != "torch":
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        """Return the module."""
        return MagicMock(name=spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has no code."""


def last_kernel_line(path: Path) -> int:
    """Return the last line of the last function that ``triton.jit`` decorates, or 0."""
    return max(
        (
            node.end_lineno or 0
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(one) for one in node.decorator_list)
        ),
        default=0,
    )


def import_file(path: Path) -> ModuleType:
    """Import a file without a GPU.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    ModuleType
        The module.
    """
    if importlib.util.find_spec("torch") is None:
        sys.meta_path.append(PyTorchSubstitute())
    triton.runtime.driver.set_active(MagicMock())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Rejected(f"{path.name}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno or 0 for frame in frames if frame.filename == str(path)), 0)
        # Host code after the kernels may fail without a GPU.
        if line == 0 or line <= last_kernel_line(path):
            place = f"{path.name}:{line}" if line else path.name
            raise Rejected(f"{place}: the import failed: {type(error).__name__}: {error}") from error
    return module


def kernel_of(module: ModuleType, wanted: str) -> JITFunction:
    """Return a kernel of a module.

    Parameters
    ----------
    module
        The module.
    wanted
        Name of the kernel; empty: the only one that no other kernel calls.

    Returns
    -------
    JITFunction
        The kernel, without decorators such as ``triton.autotune``.
    """
    functions: dict[str, JITFunction] = {}
    for name, value in vars(module).items():
        while isinstance(value, KernelInterface) and not isinstance(value, JITFunction):
            value = value.fn
        if isinstance(value, JITFunction) and value.fn.__module__ == module.__name__:
            functions[name] = value
    if wanted:
        if wanted not in functions:
            raise Rejected(f"the candidate has no kernel '{wanted}'; its kernels are {', '.join(functions)}")
        return functions[wanted]
    # The names of attributes do not count: a kernel named argmax may use tl.argmax.
    called = {
        instruction.argval
        for function in functions.values()
        for instruction in dis.get_instructions(function.fn)
        if instruction.opname == "LOAD_GLOBAL"
    }
    names = [name for name in functions if name not in called]
    if len(names) != 1:
        raise Rejected(
            f"the candidate has several kernels ({', '.join(names)}); choose one with 'entry' in the contract"
            if names
            else "the candidate has no kernel; it must have a function decorated with triton.jit"
        )
    return functions[names[0]]


def source_of(kernel: JITFunction, types: list[str], constants: dict[str, Any]) -> ASTSource:
    """Return what the compiler compiles.

    Parameters
    ----------
    kernel
        The kernel.
    types
        Types of the arguments, such as ``*fp32``, in order.
    constants
        Values of ``constexpr`` parameters, and of other parameters that are constants, by name.

    Returns
    -------
    ASTSource
        The kernel with the types of its parameters. No pointer is assumed to be divisible by 16.
    """
    name = kernel.fn.__name__
    unknown = [constant for constant in constants if constant not in kernel.arg_names]
    if unknown:
        raise Rejected(
            f"'constexpr' in the contract states '{unknown[0]}', but '{name}' has no such parameter; "
            f"its parameters are {', '.join(kernel.arg_names)}"
        )
    values = dict(constants)
    passed = []
    for parameter in kernel.params:
        if parameter.name in values:
            continue
        if not parameter.is_constexpr:
            passed.append(parameter.name)
        elif parameter.has_default:
            values[parameter.name] = parameter.default
        else:
            raise Rejected(
                f"the constexpr parameter '{parameter.name}' of '{name}' needs a value; "
                "state it in 'constexpr' in the contract, the .assay.json file next to the candidate"
            )
    if len(passed) != len(types):
        raise Rejected(
            f"'{name}' has {len(passed)} parameters that are not constants ({', '.join(passed)}), but gets "
            f"{len(types)} arguments; state one for each in 'arguments' in the contract"
        )
    type_of = dict(zip(passed, types, strict=True))
    return ASTSource(
        fn=kernel,
        signature={parameter: type_of.get(parameter, "constexpr") for parameter in kernel.arg_names},
        constexprs=values,
    )


def compile_error_text(kernel: JITFunction, error: BaseException) -> str:
    """Return the message of an error of the compiler with its line in the kernel, if the line is known."""
    node = getattr(error, "node", None)
    line = f":{kernel.def_file_line_number + node.lineno - 1}" if hasattr(node, "lineno") else ""
    # The error that a call of another function raised says what is wrong there.
    while error.__cause__ is not None:
        error = error.__cause__
    text = str(getattr(error, "error_message", None) or error).strip()
    return f"{Path(kernel.file_name).name}{line}: Triton cannot compile '{kernel.fn.__name__}': {text}"


def compiled(request: dict[str, Any]) -> dict[str, Any]:
    """Compile the kernel that a request describes.

    Parameters
    ----------
    request
        The members ``file``, ``kernel``, ``types``, ``constants``, ``options`` and ``architecture``.

    Returns
    -------
    dict
        The answer.
    """
    path = Path(request["file"])
    kernel = kernel_of(import_file(path), request["kernel"])
    source = source_of(kernel, request["types"], request["constants"])
    target = GPUTarget("cuda", request["architecture"], 32)
    try:
        result = triton.compile(source, target=target, options={**request["options"], "enable_fp_fusion": False})
    except (CompilationError, RuntimeError, AssertionError, ValueError, TypeError) as error:
        raise Rejected(compile_error_text(kernel, error)) from error
    metadata = result.metadata
    # LLVM counts the lines of inline assembly as lines of the file, so its instructions keep the location before it.
    ptx = INLINE_ASSEMBLY.sub(lambda block: LOCATION.sub("", block.group()), result.asm["ptx"])
    return {
        "ptx": ptx,
        "kernel": metadata.name,
        "block_threads": metadata.num_warps * metadata.warp_size,
        "shared_bytes": metadata.shared,
        "scratch_bytes": metadata.global_scratch_size,
        "profile_scratch_bytes": metadata.profile_scratch_size,
    }


def main() -> None:
    """Answer the request in the file that the command line names."""
    try:
        answer = compiled(json.loads(Path(sys.argv[1]).read_text()))
    except Rejected as error:
        answer = {"error": str(error)}
    with os.fdopen(ANSWER_FD, "w") as stream:
        json.dump(answer, stream)


if __name__ == "__main__":
    main()
