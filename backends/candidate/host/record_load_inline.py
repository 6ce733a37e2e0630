"""Records the sources that a Python file passes to load_inline or load of PyTorch, without PyTorch.

The program ``assay`` runs this file in a confined process with the path of the file. File descriptor 3 receives one
JSON object: the texts of the sources, the functions and the flags, or the member ``error``.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

ANSWER_FD = 3


class Recorder:
    """The arguments of all calls of ``load_inline`` and ``load``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: list[dict[str, str]] = []
        self.functions: list[str] = []
        self.flags: list[str] = []

    def add(self, kind: str, text: str, file: str) -> None:
        """Record a source, unless an earlier call passed the same one."""
        entry = {"kind": kind, "text": text, "file": file}
        if entry not in self.texts:
            self.texts.append(entry)

    def load_inline(
        self,
        name: str,
        cpp_sources: str | Sequence[str] = (),
        cuda_sources: str | Sequence[str] | None = None,
        functions: str | Sequence[str] | Mapping[str, str] | None = None,
        extra_cflags: Sequence[str] | None = None,
        extra_cuda_cflags: Sequence[str] | None = None,
        *further: Any,
        **options: Any,
    ) -> MagicMock:
        """Record a call of ``load_inline``; the parameters are those of PyTorch."""
        for kind, sources in (("cpp", cpp_sources), ("cuda", cuda_sources)):
            for text in listed(sources):
                self.add(kind, text, "")
        self.functions += listed(functions)
        self.flags += listed(extra_cuda_cflags)
        return MagicMock(name=name)

    def load(
        self,
        name: str,
        sources: str | Sequence[str],
        extra_cflags: Sequence[str] | None = None,
        extra_cuda_cflags: Sequence[str] | None = None,
        *further: Any,
        **options: Any,
    ) -> MagicMock:
        """Record a call of ``load``, which names files; the parameters are those of PyTorch."""
        for source in listed(sources):
            path = self.folder / source
            kind = "cuda" if path.suffix == ".cu" else "cpp"
            self.add(kind, path.read_text(), path.name)
        self.flags += listed(extra_cuda_cflags)
        return MagicMock(name=name)


def listed(value: str | Sequence[str] | Mapping[str, str] | None) -> list[str]:
    """Return one string as a list, and the keys of a mapping."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(one) for one in value]


class Module:
    """A substitute for ``torch.nn.Module``, from which classes of the file are derived."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass


class Function:
    """A substitute for ``torch.autograd.Function``."""


class PyTorchSubstitute(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Provides modules named ``torch`` whose attributes can be called, subclassed and used in expressions."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the specification of a module of PyTorch."""
        if fullname.split(".")[0] != "torch":
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        """Return the module."""
        module = MagicMock(name=spec.name)
        if spec.name == "torch.utils.cpp_extension":
            module.load_inline = self.recorder.load_inline
            module.load = self.recorder.load
        if spec.name == "torch.nn":
            module.Module = Module
        if spec.name == "torch.autograd":
            module.Function = Function
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has no code."""


def call_what_may_load(module: ModuleType) -> None:
    """Create each ``Module`` of a file, and call the functions that load a source and need no argument.

    Parameters
    ----------
    module
        The imported file.
    """
    for value in list(vars(module).values()):
        is_own = getattr(value, "__module__", None) == module.__name__
        is_loader = inspect.isfunction(value) and not {"load_inline", "load"}.isdisjoint(value.__code__.co_names)
        if is_own and (is_loader or (inspect.isclass(value) and issubclass(value, Module))):
            # What needs arguments or PyTorch fails; the other candidates may still load the source.
            with contextlib.suppress(Exception):
                value()


def record(path: Path) -> dict[str, Any]:
    """Import a file and return what it passes to PyTorch.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    dict
        The members of the answer.
    """
    recorder = Recorder(path.parent)
    sys.meta_path.insert(0, PyTorchSubstitute(recorder))
    # A MagicMock would invent these modules as attributes of `torch`.
    for name in ("torch.nn", "torch.autograd", "torch.utils.cpp_extension"):
        importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        return {"error": f"{path.name}: cannot be imported"}
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    os.chdir(path.parent)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno for frame in frames if frame.filename == str(path)), None)
        # Code after the call may fail without PyTorch.
        if not recorder.texts:
            place = f"{path.name}:{line}" if line else path.name
            return {"error": f"{place}: the import failed: {type(error).__name__}: {error}"}
    if not recorder.texts:
        call_what_may_load(module)
    if not recorder.texts:
        return {"error": f"{path.name}: the functions that call load_inline or load need arguments, or there are none"}
    return {"texts": recorder.texts, "functions": recorder.functions, "flags": recorder.flags}


def main() -> None:
    """Answer for the file that the command line names."""
    try:
        answer = record(Path(sys.argv[1]))
    except OSError as error:
        answer = {"error": str(error)}
    with os.fdopen(ANSWER_FD, "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
