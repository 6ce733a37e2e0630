"""Takes the text of one kernel from the user's file, so that Warp gets what the user wrote.

Usage: kernel_text.py FILE LINE NAME   print the text of the kernel NAME whose `def` is in this line

The text consists of the kernel and of the imports, constants, structs and functions that it needs, verbatim and on the
lines where they are in the file. All other lines are empty, so the code at the top of the file does not run: what
remains only defines names. If the kernel needs anything else, such as a name that a call computes, the file cannot be
used, and the kernel is printed from Assay's own representation instead.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import ctypes
import dataclasses
import json
import pathlib
import re
import sys

MODULES = ("__future__", "dataclasses", "enum", "math", "numpy", "typing", "warp")
DECORATORS = ("kernel", "func", "func_native", "func_grad", "func_replay", "overload", "struct")
# Calls that only make a value or a type.
WARP_CALLS = re.compile(
    r"constant|static|overload|ref"
    r"|(types\.)?(vector|matrix|quaternion|transformation|(indexed|fabric|indexedfabric)?array[1-4]?d?|tile)"
    r"|(vec\d|mat\d\d|quat|transform|spatial_vector|spatial_matrix)[a-z0-9]*"
    r"|bool|u?int(8|16|32|64)?|b?float(16|32|64)?"
)
NUMPY_CALLS = re.compile(
    r"bool_?|u?int(8|16|32|64)|float(16|32|64)|finfo|iinfo|sqrt|exp|log|log2|log10|sin|cos|tan|deg2rad|radians|rad2deg"
)
PYTHON_CALLS = ("abs", "bool", "float", "int", "len", "list", "max", "min", "pow", "range", "round", "sum", "tuple")
# What Warp calls for an operator if the file defines a function of this name.
OPERATORS = (
    *("add", "sub", "mul", "div", "floordiv", "pow", "mod", "pos", "neg", "unot"),
    *("bit_and", "bit_or", "bit_xor", "invert", "lshift", "rshift"),
)
EXPRESSIONS = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Starred),
    *(ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr, ast.FormattedValue, ast.keyword),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.Load),
)


class NotUsableError(Exception):
    """The text of the file cannot be used; the message says why."""


@dataclasses.dataclass(eq=False)
class Statement:
    """A statement at the top of the file."""

    node: ast.stmt
    names: set[str]  # names that it binds
    first: int  # its lines, from 1
    last: int


class KernelFile:
    """A file with kernels."""

    def __init__(self, source: str) -> None:
        self.lines = re.split("\r\n|\r|\n", source.removeprefix("\ufeff"))
        try:
            tree = ast.parse("\n".join(self.lines))
        except SyntaxError as error:
            raise NotUsableError(f"Python rejects the file: {error}") from error
        self.statements = [
            Statement(node, bound_names(node), first_line(node), node.end_lineno or node.lineno) for node in tree.body
        ]
        self.binding: dict[str, list[Statement]] = {}
        for statement in self.statements:
            for name in statement.names:
                self.binding.setdefault(name, []).append(statement)
        self.modules: dict[str, str] = {}  # what each imported name stands for: "warp", "warp.vec3"
        for statement in self.statements:
            self.modules.update(imported_names(statement.node))

    def text_of(self, line: int, name: str) -> str:
        """Return the text of the kernel whose `def` is in this line.

        Raises
        ------
        NotUsableError
            If the file cannot be used; the message says why.
        """
        chosen = self.statements_of(line, name)
        lines = [""] * len(self.lines)
        for statement in chosen:
            lines[statement.first - 1 : statement.last] = self.lines[statement.first - 1 : statement.last]
        for statement in self.statements:
            if statement not in chosen and any(lines[statement.first - 1 : statement.last]):
                raise NotUsableError(f"line {statement.first} has several statements")
        return "\n".join(lines).rstrip("\n") + "\n"

    def statements_of(self, line: int, name: str) -> set[Statement]:
        """Return the statements that the kernel needs, and those that set options of the file."""
        chosen: set[Statement] = set()
        pending = [self.definition_at(line), *self.binding.get(name, ())]
        pending += [s for s in self.statements if self.is_setting(s.node) or self.replaces_operator(s.node)]
        while pending:
            statement = pending.pop()
            if statement in chosen:
                continue
            chosen.add(statement)
            self.check(statement)
            for needed in self.needed_names(statement.node):
                pending += self.definitions_of(needed)
            for same in statement.names:
                pending += self.binding[same]
            pending += [s for s in self.statements if self.customized(s.node) & statement.names]
        return chosen

    def definition_at(self, line: int) -> Statement:
        """Return the definition of a function by the line of its `def`."""
        for statement in self.statements:
            if isinstance(statement.node, ast.FunctionDef) and statement.node.lineno == line:
                return statement
        raise NotUsableError("the kernel is not defined at the top level of the file")

    def definitions_of(self, name: str) -> list[Statement]:
        """Return the statements that bind a name that the kernel needs."""
        if name in self.binding:
            return self.binding[name]
        if hasattr(builtins, name):
            return []
        raise NotUsableError(f"the file does not define '{name}'")

    def needed_names(self, node: ast.stmt) -> set[str]:
        """Return the names of the file that a statement needs."""
        if isinstance(node, ast.ClassDef):  # its statements may read names that earlier ones assign
            stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            return loaded_names(node) - (stored - self.binding.keys())
        if not isinstance(node, ast.FunctionDef):
            return loaded_names(node)
        arguments = [a for a in ast.walk(node.args) if isinstance(a, ast.arg)]
        header = [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
        names = {name for part in header for name in loaded_names(part)}
        body = ast.Module(node.body, [])
        loaded, own = loaded_names(body), {argument.arg for argument in arguments}
        own |= {n.arg for n in ast.walk(body) if isinstance(n, ast.arg)}
        assigned = {n.id for n in ast.walk(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        # Warp takes the value of the file for a name that the function reads and assigns afterwards.
        constants = {n for n in loaded & assigned - own if all(self.is_constant(s) for s in self.binding.get(n, ()))}
        return names | (loaded - own - assigned) | (constants & self.binding.keys())

    def is_constant(self, statement: Statement) -> bool:
        """Whether a statement assigns a value that no other code can influence."""
        return isinstance(statement.node, ast.Assign | ast.AnnAssign) and self.obstacle(statement) is None

    def check(self, statement: Statement) -> None:
        """Fail unless the statement only defines names or sets options of the file."""
        obstacle = self.obstacle(statement)
        if obstacle is not None:
            raise NotUsableError(f"line {statement.first}: {obstacle}")

    def obstacle(self, statement: Statement) -> str | None:
        """Return why a statement may do more than define names or set options; None if it does not."""
        node = statement.node
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            is_known = all(module.split(".")[0] in MODULES for module in modules)
            is_relative = isinstance(node, ast.ImportFrom) and node.level > 0
            return None if is_known and not is_relative else "the kernel needs another module"
        if isinstance(node, ast.FunctionDef):
            return self.obstacle_of_function(node, DECORATORS)
        if isinstance(node, ast.ClassDef):
            return self.obstacle_of_class(node)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (ast.Name, ast.Tuple, ast.List, ast.expr_context)
            is_name = all(isinstance(part, names) for target in targets for part in ast.walk(target))
            annotations = [node.annotation] if isinstance(node, ast.AnnAssign) else []
            values = [node.value, *annotations, *quoted(annotations)]
            return None if is_name and self.are_pure(values) else "the kernel needs a value that only Python knows"
        if self.is_setting(node):
            return None if self.are_pure(node.value.args) else "the options of the file are known only to Python"
        if self.customized(node):
            return None if self.are_pure([node.value]) else "the types of an overload are known only to Python"
        return "the kernel needs a name that is not defined by a simple statement"

    def obstacle_of_function(self, node: ast.FunctionDef, decorators: tuple[str, ...]) -> str | None:
        """Return why the definition of a function may do anything else; None if it does not."""
        if not node.decorator_list and decorators:
            return f"the kernel needs the Python function '{node.name}'"
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            given = [*decorator.args, *decorator.keywords] if isinstance(decorator, ast.Call) else []
            if self.warp_name(called) not in decorators or not self.are_pure(given):
                return f"'{node.name}' has a decorator that only Python knows"
        annotations = [a.annotation for a in ast.walk(node.args) if isinstance(a, ast.arg)] + [node.returns]
        header = [*annotations, *quoted(annotations), *node.args.defaults, *node.args.kw_defaults]
        if not self.are_pure(header):
            return f"the header of '{node.name}' needs a value that only Python knows"
        calls = [n for n in ast.walk(ast.Module(node.body, [])) if isinstance(n, ast.Call)]
        static = [n for n in calls if self.warp_name(n.func) == "static"]
        is_known = all(self.are_pure([*n.args, *n.keywords]) for n in static)
        return None if is_known else f"'{node.name}' calls wp.static with a value that only Python knows"

    def obstacle_of_class(self, node: ast.ClassDef) -> str | None:
        """Return why the definition of a class may do anything else; None if it does not."""
        if any(self.warp_name(decorator) != "struct" for decorator in node.decorator_list):
            return f"'{node.name}' has a decorator that only Python knows"
        is_simple = not node.keywords and self.are_pure(node.bases)
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                is_simple = is_simple and self.obstacle_of_function(part, ()) is None
            elif isinstance(part, ast.Assign | ast.AnnAssign):
                is_simple = is_simple and self.obstacle(Statement(part, set(), 0, 0)) is None
            elif not isinstance(part, ast.Pass):
                is_simple = is_simple and isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
        return None if is_simple else f"the class '{node.name}' is known only to Python"

    def are_pure(self, nodes: list[ast.AST | None]) -> bool:
        """Whether expressions only make values from constants, names and types."""
        return all(
            isinstance(part, EXPRESSIONS) or (isinstance(part, ast.Call) and self.makes_value(part.func))
            for node in nodes
            if node is not None
            for part in ast.walk(node)
        )

    def makes_value(self, function: ast.expr) -> bool:
        """Whether a call of the function only makes a value."""
        name = self.dotted(function)
        if name in self.binding:
            return all(self.is_type(statement.node) for statement in self.binding[name])
        module, _, member = name.partition(".")
        if module == "warp":
            return WARP_CALLS.fullmatch(member) is not None
        if module == "numpy":
            return NUMPY_CALLS.fullmatch(member) is not None
        if name in ("typing.TypeVar", "math.prod") or (module == "math" and "." not in member):
            return True
        return name in PYTHON_CALLS

    def is_type(self, node: ast.stmt) -> bool:
        """Whether a statement defines a type whose values have no other code of the file."""
        if isinstance(node, ast.ClassDef):
            has_methods = any(isinstance(part, ast.FunctionDef) for part in node.body)
            return not has_methods and self.obstacle_of_class(node) is None
        if not isinstance(node, ast.Assign):
            return False
        made = node.value.func if isinstance(node.value, ast.Call) else node.value
        return self.are_pure([node.value]) and self.makes_value(made)

    def dotted(self, node: ast.expr) -> str:
        """Return what a name stands for, with the module that it comes from: "warp.types.vector"; empty for others."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            owner = self.dotted(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return ""

    def warp_name(self, node: ast.expr) -> str:
        """Return the name in Warp of what a name stands for, "types.vector"; empty for others."""
        module, _, member = self.dotted(node).partition(".")
        return member if module == "warp" else ""

    def called(self, node: ast.stmt) -> str:
        """Return the name in Warp of the function that a statement calls and does not use the result of."""
        is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        return self.warp_name(node.value.func) if is_call else ""

    def is_setting(self, node: ast.stmt) -> bool:
        """Whether a statement sets options of all kernels of the file, or changes how annotations are evaluated."""
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        return is_future or self.called(node) == "set_module_options"

    def replaces_operator(self, node: ast.stmt) -> bool:
        """Whether Warp calls the function that a statement defines for an operator."""
        return isinstance(node, ast.FunctionDef) and node.name in OPERATORS and bool(node.decorator_list)

    def customized(self, node: ast.stmt) -> set[str]:
        """Return the function whose gradient or replay a statement defines, or the kernel that it overloads."""
        calls = [d for d in getattr(node, "decorator_list", ()) if isinstance(d, ast.Call)]
        names = {"func_grad", "func_replay"}
        if self.called(node) == "overload":
            calls, names = [node.value], {"overload"}
        return {
            call.args[0].id
            for call in calls
            if self.warp_name(call.func) in names and call.args and isinstance(call.args[0], ast.Name)
        }


def first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, with its decorators."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def imported_names(node: ast.stmt) -> dict[str, str]:
    """Return what the names that a statement imports stand for: "warp", "warp.vec3"."""
    if isinstance(node, ast.Import):
        return {a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names}
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return {}


def bound_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds, also under a condition."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names}
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    for part in ast.iter_child_nodes(node):
        body = getattr(part, "body", [])  # of a conditional expression or a lambda: one expression
        for inner in [part, *(body if isinstance(body, list) else [])]:
            if isinstance(inner, ast.stmt):
                names |= bound_names(inner)
    return names


def loaded_names(node: ast.AST) -> set[str]:
    """Return the names that a part of the file reads, also in quoted annotations."""
    annotations = [getattr(n, "annotation", None) for n in ast.walk(node)] + [getattr(node, "returns", None)]
    parts = [n for part in [node, *quoted(annotations)] for n in ast.walk(part)]
    return {n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def quoted(annotations: list[ast.expr | None]) -> list[ast.expr]:
    """Return the expressions in the strings of annotations, which Python may evaluate."""
    expressions = []
    for annotation in annotations:
        for part in ast.walk(annotation) if annotation is not None else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                with contextlib.suppress(SyntaxError):
                    expressions.append(ast.parse(part.value.strip(), mode="eval").body)
    return expressions


def called_names(text: str) -> set[str]:
    """Return the names of the functions that a text calls, without those of their modules."""
    calls = (n.func for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call))
    return {f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in calls}


# ------------------------------------------------------------------------------------------------- the files of a build


def write_own_text(path: pathlib.Path) -> pathlib.Path:
    """Write KERNELown.py and KERNELown.json: the text of the user's file, KERNEL.source, and its binding.

    Raises
    ------
    NotUsableError
        If the user's file cannot be used; the message says why.
    """
    binding = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    own = binding.pop("own")
    file = KernelFile(path.with_suffix(".source").read_bytes().decode())
    text = file.text_of(own["line"], own["kernel"])
    calls = called_names(text)
    if calls & {"lower_bound", "sample_cdf"}:
        raise NotUsableError("wp.lower_bound ignores the strides of the arrays that launches pass")
    for parameter, struct_path in zip(binding["parameters"], own["paths"], strict=True):
        parameter["path"] = struct_path
    binding["kernel"] = own["kernel"]
    binding["definition"] = file.definition_at(own["line"]).node.name
    # Another name than that of the printed text, which may follow in the same process.
    binding["module"] += "own"
    if not binding["tiled"] and any(name == "untile" or name.split("_")[0] == "tile" for name in calls):
        binding["tiled"], binding["block_dim"] = True, 1
    target = path.with_name(path.stem + "own.py")
    target.write_text(text, encoding="utf-8")
    target.with_suffix(".json").write_text(json.dumps(binding), encoding="utf-8")
    return target


def kernel_in(module: object, binding: dict[str, object]) -> object:
    """Return the kernel of a loaded file; of a generic kernel, its only overload."""
    kernel = getattr(module, binding["kernel"], None) or getattr(module, binding.get("definition", binding["kernel"]))
    if not kernel.is_generic:
        return kernel
    overloads = list(kernel.overloads.values())
    if len(overloads) != 1:
        raise NotUsableError("the kernel is generic")
    return overloads[0]


def is_array(kind: object) -> bool:
    """Whether the type of an argument is wp.array. In Warp 1.19, the annotation wp.array[float] has another class."""
    import warp as wp  # Not at the top: the other functions run without Warp.

    return getattr(wp._src.types, "matches_array_class", isinstance)(kind, wp.array)


def check_arguments(kernel: object, binding: dict[str, object]) -> None:
    """Fail unless the kernel has the arguments that launches pass."""
    import warp as wp  # Not at the top: the other functions run without Warp.

    arguments = {argument.label: argument.type for argument in kernel.adj.args}
    wanted: dict[str, dict[str, object] | None] = {}
    for parameter in binding["parameters"]:
        root = parameter["path"].split(".")[0]
        wanted[root or parameter["name"]] = None if root else parameter
    if list(arguments) != list(wanted):
        raise NotUsableError(
            f"the kernel has the arguments {', '.join(arguments)}; a launch passes {', '.join(wanted)}"
        )
    for name, parameter in wanted.items():
        kind = arguments[name]
        if parameter is None:
            is_same = isinstance(kind, wp._src.codegen.Struct)
        elif parameter["rank"] > 0:
            is_same = is_array(kind) and kind.ndim == parameter["rank"]
            is_same = is_same and wp.types.type_size_in_bytes(kind.dtype) == parameter["bytes"]
        elif isinstance(kind, wp._src.codegen.Struct):
            is_same = ctypes.sizeof(kind.ctype) == parameter["bytes"]
        else:
            is_same = isinstance(kind, type) and wp.types.type_size_in_bytes(kind) == parameter["bytes"]
        if not is_same:
            raise NotUsableError(f"argument '{name}' has another layout than a launch passes")


def apply_options(kernel: object, binding: dict[str, object], path: pathlib.Path) -> None:
    """Record that a kernel has no backward pass if the user's file disables it."""
    is_enabled = kernel.options.get("enable_backward", kernel.module.options["enable_backward"])
    if binding["has_backward"] and not is_enabled:
        # As when the worker loads the file: Warp's key of the built code depends on the option.
        binding["has_backward"] = kernel.module.options["enable_backward"] = False
        path.with_suffix(".json").write_text(json.dumps(binding), encoding="utf-8")


def main() -> None:
    """Print the text of a kernel."""
    if len(sys.argv) != 4:
        sys.exit("usage: kernel_text.py FILE LINE NAME")
    source = pathlib.Path(sys.argv[1]).read_bytes().decode()
    try:
        print(KernelFile(source).text_of(int(sys.argv[2]), sys.argv[3]), end="")
    except NotUsableError as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
