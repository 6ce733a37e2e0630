"""Writes live Warp kernels as standalone Warp Python.

An exported file imports only ``warp`` and ``typing``. It holds one kernel with the functions, structs and constants
that the kernel uses, each captured value spelled out. The body keeps the lines of the original, so that a comment
``# source: FILE:LINE`` above each function is enough to find the original line of every line below it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import keyword
import re
import types
from dataclasses import dataclass
from typing import Any

import warp as wp
from warp._src import codegen, context

from assay._errors import CannotExport
from assay._spelling import is_builtin_function, spell_constant, spell_type

HEADER = "from typing import Any, Callable\n\nimport warp as wp\n"


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
        The text of the file. Warp and Assay both read it.

    Raises
    ------
    CannotExport
        If the file cannot hold the kernel: the message says why.
    """
    if not isinstance(kernel, context.Kernel):
        raise TypeError(f"expected a kernel, as @wp.kernel makes it, got {type(kernel).__name__}")
    reserved: set[str] = set()
    while True:
        exporter = _Exporter(reserved)
        try:
            return exporter.file_of(kernel, argument_types)
        except _NameTaken as taken:
            reserved.add(taken.name)


class _NameTaken(Exception):
    """A name of the exported file is also a local variable of a function that uses it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass
class _Replacement:
    """Bytes of the source that another text replaces, without changing the number of lines."""

    begin: int
    end: int
    text: str


class _Exporter:
    """The file of one kernel."""

    def __init__(self, reserved: set[str]) -> None:
        self._used = {"wp", "Any", "Callable", *reserved, *dir(builtins)}
        self._sections: list[str] = []
        self._constants: dict[str, str] = {}
        self._names: dict[int, str] = {}
        self._keep: list[Any] = []

    def file_of(self, kernel: Any, argument_types: dict[str, Any] | None) -> str:
        name = self._fresh(kernel.key)
        text = _annotations(kernel.adj) + self._function(kernel.adj, name, "@wp.kernel", argument_types)
        constants = "".join(f"{name} = {value}\n" for name, value in self._constants.items())
        parts = [HEADER] + ([constants] if constants else []) + self._sections + [text]
        return "\n\n".join(part.rstrip("\n") + "\n" for part in parts)

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
        """A name for the type that a kernel can call: Warp rejects the call of a call."""
        if getattr(wp, wanted, None) is kind:
            return f"wp.{wanted}"  # wp.spatial_vector is a function as well, which takes more than its type does
        text = spell_type(kind, self.struct)
        return self._named(wanted, text) if "(" in text else text

    def constant(self, wanted: str, value: Any) -> str:
        text = spell_constant(value, self.struct)
        if text in ("True", "False", "None"):
            return text
        return self._named(wanted, text)

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
            raise CannotExport(f"function {form.key} is native code (wp.func_native)")
        texts = [self._function(form.adj, name, "@wp.func", None)]
        if form.custom_grad_func is not None:
            grad = self._fresh(f"adj_{name}")
            texts.append(self._function(form.custom_grad_func.adj, grad, f"@wp.func_grad({name})", None))
        if form.custom_replay_func is not None:
            replay = self._fresh(f"replay_{name}")
            texts.append(self._function(form.custom_replay_func.adj, replay, f"@wp.func_replay({name})", None))
        return texts

    def _function(self, adjoint: Any, name: str, decorator: str, argument_types: dict[str, Any] | None) -> str:
        """The text of one function, with a comment that gives its place in the user's file."""
        source = inspect.cleandoc("\n" + adjoint.source) + "\n"
        tree = ast.parse(source)
        definition = next((n for n in tree.body if isinstance(n, ast.FunctionDef)), None)
        if definition is None:
            raise CannotExport("it has no source text that starts with def")
        types_by_name = {a.label: a.type for a in adjoint.args} | (argument_types or {})
        writer = _FunctionWriter(self, adjoint.get_static_evaluation_context(), source.encode(), definition)
        text = writer.text(name, types_by_name)
        line = adjoint.fun_lineno + definition.lineno - 1
        return f"# source: {_file_of(adjoint)}:{line}\n{decorator}\n{text}"


def _annotations(adjoint: Any) -> str:
    """The comments above a kernel that state its valid inputs or trust its custom gradients."""
    try:
        comments = inspect.getcomments(adjoint.func) or ""
    except (OSError, TypeError):  # the source file does not exist
        return ""
    lines = [line.strip() for line in comments.splitlines()]
    return "".join(f"{line}\n" for line in lines if re.match(r"#\s*(launch|domain|custom gradients):", line))


def _file_of(adjoint: Any) -> str:
    return inspect.getsourcefile(adjoint.func) or adjoint.filename


def _forms(function: Any) -> list[Any]:
    """The overloads of a function as its author wrote them; instances of generic ones are left out."""
    forms = [f for f in function.user_overloads.values() if not getattr(f, "generic_parent", None)]
    forms += [f for f in function.user_templates.values() if f not in forms]
    return forms or [function]


class _FunctionWriter(ast.NodeVisitor):
    """Replaces the names of one function that are not its own."""

    def __init__(self, exporter: _Exporter, names: dict[str, Any], source: bytes, definition: ast.FunctionDef) -> None:
        self._exporter = exporter
        self._names = names
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
            spelled = "Callable"
        else:
            spelled = spell_type(kind, self._exporter.struct)
        self._replace(argument.annotation, spelled)

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

    def _replace(self, node: Any, text: str) -> None:
        begin = self._offset(node.lineno, node.col_offset)
        if self._source[begin : self._end(node)].decode() != text:
            self._replacements.append(_Replacement(begin, self._end(node), text))

    def _replaced(self, start: int, end: int) -> str:
        pieces, position = [], start
        for change in sorted(self._replacements, key=lambda r: r.begin):
            lost_lines = self._source[change.begin : change.end].count(b"\n")
            pieces += [self._source[position : change.begin].decode(), change.text + " \\\n" * lost_lines]
            position = change.end
        pieces.append(self._source[position:end].decode())
        return "".join(pieces) + "\n"

    def visit_Call(self, node: ast.Call) -> None:
        found, function = self._lookup(node.func)
        if found and function is wp.static and len(node.args) == 1:
            expression = ast.Expression(ast.fix_missing_locations(node.args[0]))
            try:
                value = eval(compile(expression, "<wp.static>", "eval"), dict(self._names))
            except NameError:  # the variable of a static loop
                value = None
            else:
                self._replace(node, self._static(value))
                return
        self.generic_visit(node)

    def _static(self, value: Any) -> str:
        """The result of wp.static: a literal, so that it keeps its digits as in Warp."""
        if isinstance(value, context.Function | codegen.Struct) or inspect.isclass(value):
            return self._spell("static", value)
        return spell_constant(value, self._exporter.struct)

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
            raise CannotExport(f"it calls the Python function {getattr(value, '__name__', wanted)}")
        return self._exporter.constant(wanted, value)

    @staticmethod
    def _is_of_warp(value: Any) -> bool:
        return inspect.isroutine(value) and (getattr(value, "__module__", None) or "").split(".")[0] == "warp"
