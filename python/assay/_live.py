"""Imports files and modules of a user and exports each kernel that is then alive.

The program ``assay`` runs this file in a confined process (``assay run --import``). It writes one JSON object to the
file descriptor that the request names; everything that the import prints goes elsewhere.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import itertools
import json
import os
import pkgutil
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any

OLDEST_WARP = (1, 15)


class CannotImport(Exception):
    """The import failed.

    Attributes
    ----------
    place
        ``"FILE:LINE"`` of the user's code, or the name of the file or module.
    """

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.place = place


def live_kernels(files: list[str], modules: list[str], *, for_dataset: bool = False) -> dict[str, Any]:
    """Import files and modules, and export their kernels.

    Parameters
    ----------
    files
        Paths of Python files.
    modules
        Dotted names of modules. A package stands for all of its modules that its import loads; ``"name.*"`` also
        imports the others.
    for_dataset
        Whether the exported text names files by their path in their package, which is the same on every machine, and
        each kernel has an ``origin``.

    Returns
    -------
    dict
        ``kernels``: for each kernel, in the order of their definitions, its ``name``, ``selector``, ``file`` and
        ``line``, and either the ``text`` of the exported file or the ``reason`` why there is none. With `for_dataset`,
        ``origin`` has the members of :class:`Origin`. ``sources``: the SHA-256 of each file that a kernel comes from.
        ``notes``: lines for the user.

    Raises
    ------
    CannotImport
        If Warp is missing or too old, or an import fails.
    """
    _check_warp()
    _number_kernels()
    notes: list[str] = []
    scopes = [_Scope.of_file(path) for path in files]
    for name in modules:
        scopes.append(_Scope.of_module(name, notes))
    exporting = _Exporting(for_dataset)
    kernels = [exporting.entry(scope, *found) for scope in scopes for found in scope.kernels()]
    return {"kernels": kernels, "sources": exporting.sources, "notes": notes}


def _check_warp() -> None:
    try:
        import warp
    except ModuleNotFoundError:
        raise CannotImport("this Python has no Warp; install warp-lang", sys.executable) from None
    except Exception as error:
        raise CannotImport(f"cannot import Warp: {_summary(error)}", sys.executable) from error
    version = str(getattr(warp, "__version__", "unknown"))
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST_WARP:
        oldest = ".".join(map(str, OLDEST_WARP))
        raise CannotImport(f"Warp {version} is too old; version {oldest} or later is required", sys.executable)
    warp.config.quiet = True


def _number_kernels() -> None:
    """Number all kernels that are made from now on, because Warp does not keep them in order."""
    from warp._src import context

    initialize = context.Kernel.__init__
    numbers = itertools.count(1)

    def initialize_and_number(kernel: Any, *arguments: Any, **named: Any) -> None:
        initialize(kernel, *arguments, **named)
        kernel._assay_number = next(numbers)

    context.Kernel.__init__ = initialize_and_number


class _Scope:
    """An imported file or module, and the kernels that belong to it."""

    def __init__(self, module: ModuleType, shown: str, selector: str, with_children: bool) -> None:
        self._module = module
        self._shown = shown
        self._selector = selector
        self._with_children = with_children

    @classmethod
    def of_file(cls, path: str) -> _Scope:
        file = Path(path).resolve()
        package_root, name = file.parent, file.stem
        while (package_root / "__init__.py").is_file():
            package_root, name = package_root.parent, f"{package_root.name}.{name}"
        sys.path.insert(0, str(package_root))
        sys.argv = [path]
        is_in_package = "." in name
        module = _import(name.removesuffix(".__init__"), path) if is_in_package else _import_file(name, file, path)
        return cls(module, file.stem, path, with_children=False)

    @classmethod
    def of_module(cls, pattern: str, notes: list[str]) -> _Scope:
        name = pattern.removesuffix(".*")
        if "" not in sys.path:
            sys.path.insert(0, "")
        module = _import(name, name)
        if pattern.endswith(".*"):
            for child in _children(module):
                try:
                    _import(child, child)
                except CannotImport as failed:
                    notes.append(f"{failed.place}: not imported: {failed}")
        return cls(module, name, name, with_children=True)

    def kernels(self) -> list[tuple[str, str, Any]]:
        """The module, unique name and object of each kernel; instances instead of a generic kernel that has some."""
        from warp._src import context

        live = {id(k): k for m in list(context.user_modules.values()) for k in _live_of(m)}
        owned = [k for k in live.values() if self._owns(k)]
        names = _variable_names(sys.modules.get(m) for m in {k.func.__module__ for k in owned})
        made = {id(k): n for n, k in vars(self._module).items() if isinstance(k, context.Kernel)}
        for number, kernel in live.items():
            if number in made and kernel not in owned and "<locals>" in kernel.func.__qualname__:
                owned.append(kernel)
                names[number] = made[number]
        owned.sort(key=_order)
        taken: set[tuple[str, str]] = set()
        result = []
        for kernel in owned:
            module = kernel.func.__module__ if self._with_children else self._shown
            for instance in list(kernel.overloads.values()) or [kernel]:
                name = _unique(module, names.get(id(kernel)) or _name_of(kernel), taken)
                result.append((module, name, instance))
        return result

    def _owns(self, kernel: Any) -> bool:
        own, module = self._module.__name__, kernel.func.__module__ or ""
        return module == own or (self._with_children and module.startswith(own + "."))

    def selector(self, module: str, name: str) -> str:
        return f"{module if self._with_children else self._selector}:{name}"


def _order(kernel: Any) -> tuple[str, int, int]:
    return kernel.func.__module__, kernel.func.__code__.co_firstlineno, getattr(kernel, "_assay_number", 0)


def _live_of(module: Any) -> Iterable[Any]:
    alive = list(module.kernels.values())
    with contextlib.suppress(AttributeError):
        alive += module._get_live_kernels()
    return alive


def _variable_names(modules: Iterable[ModuleType | None]) -> dict[int, str]:
    """The name of the module's variable that holds a kernel, which is what the user knows it by."""
    from warp._src import context

    names: dict[int, str] = {}
    for module in modules:
        for name, value in vars(module).items() if module else ():
            if isinstance(value, context.Kernel) and value.func.__module__ == getattr(module, "__name__", None):
                names.setdefault(id(value), name)
    return names


def _name_of(kernel: Any) -> str:
    """The name of the function, after those of the classes that contain it."""
    return kernel.func.__qualname__.rpartition("<locals>.")[2].replace(".", "_")


def _unique(module: str, name: str, taken: set[tuple[str, str]]) -> str:
    base, number = re.sub(r"\W", "_", name), 1
    name = base
    while (module, name) in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add((module, name))
    return name


class _Exporting:
    """Exports kernels and remembers their source files."""

    def __init__(self, for_dataset: bool) -> None:
        self.sources: dict[str, str] = {}
        self._for_dataset = for_dataset

    def entry(self, scope: _Scope, module: str, name: str, kernel: Any) -> dict[str, Any]:
        from ._errors import CannotExport
        from ._export import export_kernel
        from ._origin import origin_of, path_in_package

        place = kernel.func.__code__
        entry = {
            "name": f"{module}.{name}",
            "selector": scope.selector(module, name),
            "file": shown_path(place.co_filename),
            "line": place.co_firstlineno,
        }
        named = path_in_package if self._for_dataset else shown_path
        try:
            exported = export_kernel(kernel, name=name, shown_path=named)
        except CannotExport as reason:
            return entry | {"reason": str(reason)}
        except RecursionError:
            return entry | {"reason": "a function calls itself"}
        self.sources |= {shown_path(path): digest for path, digest in exported.files.items()}
        if self._for_dataset:
            entry["origin"] = asdict(origin_of(place.co_filename, kernel.func.__module__, exported.files))
        return entry | {"text": exported.text, "line": exported.line}


def shown_path(path: str) -> str:
    """The path for messages: relative if it is below the working folder."""
    with contextlib.suppress(ValueError, OSError):
        return str(Path(path).resolve().relative_to(Path.cwd().resolve()))
    return path


def _import_file(name: str, file: Path, shown: str) -> ModuleType:
    if not file.is_file():
        raise CannotImport("no such file", shown)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise CannotImport("is not a Python file", shown)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with _reporting(shown):
        spec.loader.exec_module(module)
    return module


def _import(name: str, shown: str) -> ModuleType:
    with _reporting(shown):
        importlib.import_module(name)
    return sys.modules[name]


def _children(package: ModuleType) -> list[str]:
    """The names of all modules of a package, without those that only run as programs."""
    folders = getattr(package, "__path__", [])
    found = pkgutil.walk_packages(folders, package.__name__ + ".", onerror=lambda _: None)
    return [info.name for info in found if not info.name.endswith(".__main__")]


@contextlib.contextmanager
def _reporting(shown: str) -> Iterator[None]:
    """Turn whatever an import raises into CannotImport, with the place in the user's code."""
    try:
        yield
    except SystemExit as ended:
        message = f"import failed: the imported code calls sys.exit({ended.code!r})"
        raise CannotImport(message, _place(ended, shown)) from ended
    except BaseException as error:
        traceback.print_exc()
        raise CannotImport(f"import failed: {_summary(error)}", _place(error, shown)) from error


def _summary(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg}"
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def _place(error: BaseException, shown: str) -> str:
    """The last line of the user's code that the traceback names."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{shown_path(error.filename)}:{error.lineno}"
    last: tuple[FrameType, int] | None = None
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if _is_of_user(step.tb_frame):
            last = (step.tb_frame, step.tb_lineno)
        step = step.tb_next
    return f"{shown_path(last[0].f_code.co_filename)}:{last[1]}" if last else shown


def _is_of_user(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    if file.startswith("<") or file == __file__:
        return False
    standard = str(Path(os.__file__).parent)
    return not file.startswith(standard) or "site-packages" in file


def main() -> None:
    """Answer the request in the first argument and end the process, with all threads that the import started."""
    request = json.loads(sys.argv[1])
    if not request["modules"]:
        del sys.path[0]  # the working folder, which is not there when Python runs a file
    try:
        answer = live_kernels(request["files"], request["modules"], for_dataset=request["for_dataset"])
    except CannotImport as failed:
        answer = {"error": str(failed), "place": failed.place}
    except MemoryError:
        answer = {"error": "import failed: MemoryError", "place": (request["files"] + request["modules"])[0]}
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    with open(request["answer"], "w", encoding="utf-8") as stream:
        json.dump(answer, stream)
    os._exit(0)


if __name__ == "__main__":
    main()
