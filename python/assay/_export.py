"""Writes live Warp kernels as standalone Warp Python.

An exported file imports only ``warp`` and ``typing``. It holds one kernel with the functions, structs and constants
that the kernel uses, each captured value spelled out. The body keeps the lines of the original, so that a comment
``# source: FILE:LINE`` above each function is enough to find the original line of every line below it. Comments
directly above a kernel, such as ``# domain:``, are copied, and a comment ``# file: FILE sha256 HASH`` at the top
identifies the version of each file that the lines come from.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import hashlib
import inspect
import keyword
import linecache
import re
import tokenize
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warp as wp
from warp._src import codegen, context

from ._errors import CannotExport
from ._notebook import cell_name
from ._spelling import is_builtin_function, spell_constant, spell_type

HEADER = "from typing import Any\n\nimport warp as wp\n"


def export(kernel: Any, *, argument_types: dict[str, Any] | None = None) -> str:
    """Write a kernel as a standalone file of Warp Python.

    Parameters
    ----------
    kernel
        A ``wp.Kernel``, as ``@wp.kernel`` makes it. For a generic kernel, an instance (``wp.overload``) or
        `argument_types`.
    argument_types
        The type of each argument of a generic kernel, by name.

    Returns
    -------
    str
        The text of the file. Both Warp and Assay accept it.

    Raises
    ------
    CannotExport
        If the file cannot hold the kernel: the message says why.
    """
    return export_kernel(kernel, argument_types=argument_types).text


@dataclass(frozen=True)
class Exported:
    """An exported kernel.

    Attributes
    ----------
    text
        The exported file.
    line
        Line of the kernel's ``def`` in the user's file; 0 if unknown.
    files
        The SHA-256 of each file that the text was copied from, by its path.
    """

    text: str
    line: int
    files: dict[str, str]


def export_kernel(
    kernel: Any,
    *,
    argument_types: dict[str, Any] | None = None,
    name: str | None = None,
    shown_path: Callable[[str], str] = str,
) -> Exported:
    """Write a kernel as a standalone file, as :func:`export` does.

    Parameters
    ----------
    kernel, argument_types
        As for :func:`export`.
    name
        The name of the kernel in the file; by default that of its function.
    shown_path
        Gives the path of a source file as the exported file names it.

    Raises
    ------
    CannotExport
        If the file cannot hold the kernel.
    """
    if not isinstance(kernel, context.Kernel):
        raise TypeError(f"expected a kernel, as @wp.kernel makes it, got {type(kernel).__name__}")
    reserved: set[str] = set()
    while True:
        exporter = _Exporter(reserved, shown_path)
        try:
            return exporter.file_of(kernel, name or kernel.key, argument_types)
        except _NameTaken as taken:
            reserved.add(taken.name)


class _NameTaken(Exception):
    """A name of the exported file is also a local variable of a function that uses it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass
class _Replacement:
    """Bytes of the source that another text replaces, without changing the number of lines.

    `line_end` ends each line that is left over: a backslash is needed unless the text is in brackets.
    """

    begin: int
    end: int
    text: str
    line_end: str = " \\\n"


class _Exporter:
    """The file of one kernel."""

    def __init__(self, reserved: set[str], shown_path: Callable[[str], str]) -> None:
        self._shown_path = shown_path
        self._files: dict[str, str] = {}
        self._used = {"wp", "Any", *reserved, *dir(builtins)}
        self._sections: list[str] = []
        self._constants: dict[str, str] = {}
        self._names: dict[int, str] = {}
        self._keep: list[Any] = []

    def file_of(self, kernel: Any, wanted: str, argument_types: dict[str, Any] | None) -> Exported:
        place = _place_of(kernel.adj)
        text = self._function(kernel.adj, self._fresh(wanted), "@wp.kernel", argument_types)
        text = "".join(f"{line}\n" for line in place.comments()) + text
        constants = "".join(f"{name} = {value}\n" for name, value in self._constants.items())
        files = "".join(f"# file: {self._shown_path(path)} sha256 {sha}\n" for path, sha in self._files.items())
        parts = [files + HEADER] + ([constants] if constants else []) + self._sections + [text]
        whole = "\n\n".join(part.rstrip("\n") + "\n" for part in parts)
        return Exported(text=whole, line=place.line, files=self._files)

    def _fresh(self, wanted: str) -> str:
        base = re.sub(r"\W", "_", wanted.split(".")[-1]) or "_"
        name, number = base, 1
        while name in self._used or keyword.iskeyword(name):
            name, number = f"{base}_{number}", number + 1
        self._used.add(name)
        return name

    def struct(self, struct: codegen.Struct) -> str:
        if id(struct) not in self._names:
            self._keep.append(struct)
            fields = [f"    {name}: {spell_type(field.type, self.struct)}" for name, field in struct.vars.items()]
            name = self._names[id(struct)] = self._fresh(struct.key)
            self._sections.append(f"@wp.struct\nclass {name}:\n" + "\n".join(fields or ["    pass"]) + "\n")
        return self._names[id(struct)]

    def named_type(self, wanted: str, kind: Any) -> str:
        """A name for the type, because a kernel can call only a name: Warp rejects ``f(...)(...)``."""
        if getattr(wp, wanted, None) is kind:
            return f"wp.{wanted}"  # wp.spatial_vector is a function as well, which takes more than its type does
        text = spell_type(kind, self.struct)
        return self._named(wanted, text) if "(" in text else text

    def constant(self, wanted: str, value: Any) -> str:
        text = spell_constant(value, self.struct)
        if text in ("True", "False", "None"):
            return text
        return self._named(wanted, text)

    def sequence(self, wanted: str, value: list[Any] | tuple[Any, ...]) -> str:
        """A tuple of constants, for ``wp.static(VALUES[k])``."""
        return self._named(wanted, self._spell_sequence(value))

    def _spell_sequence(self, value: Any) -> str:
        if not isinstance(value, list | tuple):
            return spell_constant(value, self.struct)
        return "(" + "".join(f"{self._spell_sequence(part)}, " for part in value).rstrip(" ") + ")"

    def _named(self, wanted: str, text: str) -> str:
        """The name of a value at the top of the file."""
        for name, spelled in self._constants.items():
            if spelled == text and re.fullmatch(re.escape(wanted) + r"(_\d+)?", name):
                return name
        name = self._fresh(wanted)
        self._constants[name] = text
        return name

    def function(self, function: Any) -> str:
        if id(function) not in self._names:
            self._keep.append(function)
            # Known before its text is written, because one overload may call another.
            name = self._names[id(function)] = self._fresh(function.key)
            self._sections += [text for form in _forms(function) for text in self._form(form, name)]
        return self._names[id(function)]

    def _form(self, form: Any, name: str) -> list[str]:
        """One overload, with its custom gradient and replay function."""
        if form.native_snippet is not None:
            return [self._native(form, name)]
        texts = [self._function(form.adj, name, "@wp.func", None)]
        if form.custom_grad_func is not None:
            grad = self._fresh(f"adj_{name}")
            texts.append(self._function(form.custom_grad_func.adj, grad, f"@wp.func_grad({name})", None))
        if form.custom_replay_func is not None:
            replay = self._fresh(f"replay_{name}")
            texts.append(self._function(form.custom_replay_func.adj, replay, f"@wp.func_replay({name})", None))
        return texts

    def _native(self, form: Any, name: str) -> str:
        """A function of native code, as it was declared."""
        parts = {"adj_snippet": form.adj_native_snippet, "replay_snippet": form.replay_snippet}
        snippets = [repr(form.native_snippet), *(f"{part}={text!r}" for part, text in parts.items() if text)]
        defaults = {p.name: p.default for p in inspect.signature(form.func).parameters.values()}
        parameters = ", ".join(self._parameter(a, defaults[a.label]) for a in form.adj.args)
        result = typing.get_type_hints(form.func).get("return")
        arrow = f" -> {spell_type(result, self.struct)}" if result not in (None, type(None)) else ""
        return f"@wp.func_native({', '.join(snippets)})\ndef {name}({parameters}){arrow}: ...\n"

    def _parameter(self, argument: codegen.Var, default: Any) -> str:
        """A parameter of a native function."""
        text = f"{argument.label}: {spell_type(argument.type, self.struct)}"
        return text if default is inspect.Parameter.empty else f"{text} = {spell_constant(default, self.struct)}"

    def _function(self, adjoint: Any, name: str, decorator: str, argument_types: dict[str, Any] | None) -> str:
        """The text of one function, with a comment that gives its place in the user's file."""
        source, place = _source_of(adjoint), _place_of(adjoint)
        tree = ast.parse(source)
        definition = next((n for n in tree.body if isinstance(n, ast.FunctionDef)), None)
        if definition is None:
            raise CannotExport("it has no source text that starts with def")
        types_by_name = {a.label: a.type for a in adjoint.args} | (argument_types or {})
        writer = _FunctionWriter(self, adjoint, source.encode(), definition)
        text = writer.text(name, types_by_name)
        comment = ""
        if place.line:
            cell = cell_name(place.path)
            if cell is None:
                self._files.setdefault(place.path, _digest(place.path))
            comment = f"# source: {cell or self._shown_path(place.path)}:{place.line}\n"
        return f"{comment}{decorator}\n{text}"


def _source_of(adjoint: Any) -> str:
    """The source text of a function; with its code transformers applied, if it has any."""
    source = inspect.cleandoc("\n" + adjoint.source) + "\n"
    if not adjoint.transformers:
        return source
    tree = ast.parse(source)
    for transformer in adjoint.transformers:
        tree = transformer.visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@dataclass(frozen=True)
class _Place:
    """Where the author wrote a function.

    Attributes
    ----------
    path
        Path of the file.
    first
        Line of the first decorator, or of the ``def``; 0 if the file does not contain the function's text.
    line
        Line of the ``def``; 0 if the file does not contain the function's text.
    """

    path: str
    first: int
    line: int

    def comments(self) -> list[str]:
        """The comments directly above the function and its decorators."""
        lines = linecache.getlines(self.path) if self.first else []
        found: list[str] = []
        for line in reversed(lines[: max(self.first - 1, 0)]):
            if not line.lstrip().startswith("#"):
                break
            found.insert(0, line.strip())
        return [line for line in found if not line.startswith(("# source:", "# file:"))]


def _place_of(adjoint: Any) -> _Place:
    path = inspect.getsourcefile(adjoint.func) or adjoint.filename
    # Warp gives an instance of a generic function the source text, but no line.
    first = adjoint.fun_lineno or inspect.unwrap(adjoint.func).__code__.co_firstlineno
    text = adjoint.source.splitlines()
    lines = linecache.getlines(path)[first - 1 : first - 1 + len(text)]
    if adjoint.transformers or not text or [line.strip() for line in text] != [line.strip() for line in lines]:
        return _Place(path, 0, 0)
    definition = next((n for n in ast.parse(_source_of(adjoint)).body if isinstance(n, ast.FunctionDef)), None)
    return _Place(path, first, first + definition.lineno - 1 if definition else 0)


@functools.cache
def _digest(path: str) -> str:
    """The SHA-256 of a file.

    Raises
    ------
    CannotExport
        If the file is no longer the one that Python executed.
    """
    with tokenize.open(path) as stream:
        text = stream.read()
    if text.splitlines() != "".join(linecache.getlines(path)).splitlines():
        raise CannotExport(f"its file {path} has changed since it was imported")
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _forms(function: Any) -> list[Any]:
    """The overloads of a function as its author wrote them; instances of generic ones are left out."""
    forms = [f for f in function.user_overloads.values() if not getattr(f, "generic_parent", None)]
    forms += [f for f in function.user_templates.values() if f not in forms]
    return forms or [function]


def _by_expression(values: dict[str, Any]) -> dict[str, Any]:
    """The values by the text of their expressions, with normalized spacing."""
    result = {}
    for code, value in values.items():
        with contextlib.suppress(SyntaxError):
            result[ast.unparse(ast.parse(code.strip(), mode="eval"))] = value
    return result


class _FunctionWriter(ast.NodeVisitor):
    """Replaces the names of one function that are not its own."""

    def __init__(self, exporter: _Exporter, adjoint: Any, source: bytes, definition: ast.FunctionDef) -> None:
        self._exporter = exporter
        self._names = adjoint.get_static_evaluation_context()
        # Warp evaluates wp.static where the function is defined: a captured variable may have changed since.
        self._static_values = _by_expression(getattr(adjoint, "resolved_static_expressions", {}))
        self._source = source
        self._definition = definition
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        arguments = definition.args
        everything = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        self._arguments = [a for a in everything if a is not None]
        self._locals = {a.arg for a in self._arguments} | {
            n.id for n in ast.walk(definition) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self._replacements: list[_Replacement] = []
        self._is_in_static = False

    def text(self, name: str, types_by_name: dict[str, Any]) -> str:
        """The function under another name, with concrete types and without names of the user's module."""
        definition = self._definition
        start = self._offset(definition.lineno, definition.col_offset)
        found = re.compile(rb"def\s+(\w+)").match(self._source, start)
        if found is None:
            raise CannotExport("its source text does not start with def")
        self._replacements.append(_Replacement(found.start(1), found.end(1), name))
        for argument in self._arguments:
            self._annotate(argument, types_by_name.get(argument.arg))
        if definition.returns is not None:
            self._drop_result_type(definition.returns)
        for default in [*definition.args.defaults, *definition.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in definition.body:
            self.visit(statement)
        return self._replaced(start, self._end(definition))

    def _annotate(self, argument: ast.arg, kind: Any) -> None:
        if argument.annotation is None or kind is None:
            return
        if (isinstance(kind, type) and issubclass(kind, context.Function)) or isinstance(kind, context.Function):
            spelled = "wp.Function"
        else:
            spelled = spell_type(kind, self._exporter.struct)
        self._replace(argument.annotation, spelled, line_end="\n")

    def _drop_result_type(self, returns: ast.expr) -> None:
        """Warp infers the type of the result; an annotation may name what only the user's module knows."""
        end = self._end(returns)
        arrow = self._source.rfind(b"->", 0, self._offset(returns.lineno, returns.col_offset))
        while self._source[arrow - 1 : arrow] == b" ":
            arrow -= 1
        self._replacements.append(_Replacement(arrow, end, ""))

    def _offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def _end(self, node: Any) -> int:
        return self._offset(node.end_lineno, node.end_col_offset)

    def _replace(self, node: Any, text: str, line_end: str = " \\\n") -> None:
        begin, end = self._offset(node.lineno, node.col_offset), self._end(node)
        if self._source[begin:end].decode() != text:
            self._replacements.append(_Replacement(begin, end, text, line_end))

    def _replaced(self, start: int, end: int) -> str:
        pieces, position = [], start
        for change in sorted(self._replacements, key=lambda r: r.begin):
            lost_lines = self._source[change.begin : change.end].count(b"\n")
            pieces += [self._source[position : change.begin].decode(), change.text + change.line_end * lost_lines]
            position = change.end
        pieces.append(self._source[position:end].decode())
        return "".join(pieces) + "\n"

    def visit_Call(self, node: ast.Call) -> None:
        found, function = self._lookup(node.func)
        if found and function is wp.static and len(node.args) == 1:
            try:
                self._replace(node, self._static(self._static_value(node.args[0])))
            except NameError:  # the variable of a static loop
                self._is_in_static = True
                self.generic_visit(node)
                self._is_in_static = False
            return
        self.generic_visit(node)

    def _static_value(self, argument: ast.expr) -> Any:
        code = ast.unparse(argument)
        if code in self._static_values:
            return self._static_values[code]
        try:
            return eval(compile(code, "<wp.static>", "eval"), dict(self._names))
        except NameError:
            raise
        except Exception as error:
            raise CannotExport(f"wp.static({code}) raises {type(error).__name__}: {error}") from error

    def _static(self, value: Any) -> str:
        """The result of wp.static: a literal, so that it keeps its digits as in Warp."""
        if isinstance(value, context.Function | codegen.Struct) or inspect.isclass(value):
            return self._spell("static", value)
        return spell_constant(value, self._exporter.struct)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._operator(node.op)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._operator(node.op)
        self.generic_visit(node)

    def _operator(self, operator: ast.operator) -> None:
        """Exports the function that Warp may call for the operator: the user's function of the operator's name."""
        name = codegen.builtin_operators.get(type(operator), "")
        function = self._names.get(name)
        if not isinstance(function, context.Function) or is_builtin_function(function):
            return
        exported = self._exporter.function(function)
        if exported != name:
            raise CannotExport(f"Warp calls the function '{name}' for an operator, but the file has another '{name}'")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        found, value = self._lookup(node)
        if found and not isinstance(value, types.ModuleType):
            self._replace(node, self._spell(node.attr, value))
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            return
        found, value = self._lookup(node)
        if found and not isinstance(value, types.ModuleType):
            self._replace(node, self._spell(node.id, value))
        elif value is wp and node.id != "wp":  # warp.tid, which is not an attribute of the module
            if "wp" in self._locals:
                raise _NameTaken("wp")
            self._replace(node, "wp")

    def _lookup(self, node: ast.expr) -> tuple[bool, Any]:
        """The value of a dotted name that is not a local variable."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self._locals:
            return False, None
        if node.id in self._names:
            value = self._names[node.id]
        elif hasattr(builtins, node.id):
            value = getattr(builtins, node.id)
        elif hasattr(wp, node.id):  # Warp finds its own names without a prefix
            value = getattr(wp, node.id)
        else:
            return False, None
        for name in reversed(path):
            if not hasattr(value, name):
                return False, None
            value = getattr(value, name)
        return True, value

    def _spell(self, wanted: str, value: Any) -> str:
        """The value in the exported file."""
        text = self._spell_global(wanted, value)
        root = text.split(".")[0].split("(")[0]
        if root in self._locals:
            raise _NameTaken(root)
        return text

    def _spell_global(self, wanted: str, value: Any) -> str:
        if isinstance(value, context.Function):
            return f"wp.{value.key}" if is_builtin_function(value) else self._exporter.function(value)
        if isinstance(value, codegen.Struct):
            return self._exporter.struct(value)
        if getattr(builtins, wanted, None) is value:
            return wanted
        if inspect.isclass(value):
            return "type" if value is type else self._exporter.named_type(wanted, value)
        if (getattr(wp, wanted, None) is value and isinstance(value, float | int)) or self._is_of_warp(value):
            return f"wp.{wanted if getattr(wp, wanted, None) is value else value.__name__}"
        if callable(value) and getattr(type(value), "_wp_generic_type_str_", None) is None:
            # As Warp, which looks up the name: math.sin is wp.sin.
            for name in (wanted, getattr(value, "__name__", "")):
                if name in context.builtin_functions:
                    return f"wp.{name}"
            raise CannotExport(f"it calls the Python function {getattr(value, '__name__', wanted)}")
        if self._is_in_static and isinstance(value, list | tuple):
            return self._exporter.sequence(wanted, value)
        return self._exporter.constant(wanted, value)

    @staticmethod
    def _is_of_warp(value: Any) -> bool:
        return inspect.isroutine(value) and (getattr(value, "__module__", None) or "").split(".")[0] == "warp"
