"""Write kernels that call each documented form of each builtin of Warp; used by ci/builtin_support."""

import re
from dataclasses import dataclass

# Run by Warp's Python: the documented overloads of each builtin.
REGISTRY = r"""
import inspect, json
import warp as wp
import warp._src.context as context
import warp._src.types as types

def spell(t):
    if t is None or isinstance(t, str):
        return t
    if hasattr(t, "_wp_query_dtype_"):
        return f"HashGridQuery[{t._wp_query_dtype_.__name__}]"
    try:
        return context.type_str(t)
    except Exception:
        return types.type_repr(t) if hasattr(types, "type_repr") else repr(t)

rows = []
for name, first in context.builtin_functions.items():
    for form in getattr(first, "overloads", None) or [first]:
        if form.hidden:
            continue
        needed = {k: spell(t) for k, t in form.input_types.items()
                  if (form.defaults or {}).get(k, inspect._empty) is inspect._empty}
        rows.append({"name": name, "group": form.group, "arguments": needed, "variadic": form.variadic,
                     "differentiable": form.is_differentiable})
print(json.dumps({"version": wp.config.version, "rows": rows}))
"""

# A type with which a generic parameter is called. Each is the element type of an array that the kernel reads.
TYPICAL = {
    "Int": "int", "Any": "float", "Float": "float", "Scalar": "float", "int": "int", "float": "float",
    "Quaternion[Float]": "wp.quat", "Transformation[Float]": "wp.transform",
    "Vector[Scalar, Any]": "wp.vec3", "Vector[Float, Any]": "wp.vec3", "Vector[Int, Any]": "wp.vec3i",
    "Matrix[Scalar, Any, Any]": "wp.mat33", "Matrix[Float, Any, Any]": "wp.mat33",
    "Matrix[Int, Any, Any]": "wp.types.matrix(shape=(3, 3), dtype=int)",
}  # fmt: skip
SUFFIX = {"float32": "", "float": "", "float64": "d", "float16": "h", "Float": "", "Scalar": ""}
NAMED = re.compile(
    r"^(u?int(8|16|32|64)|float(16|32|64)|bool|(vec[234]|mat(22|33|44)|quat|transform|spatial_vector)[fdh])$"
)


def element_type(spelled: str) -> str | None:
    """The element type of an array whose elements fit the parameter; None if no array holds such a value."""
    if spelled in TYPICAL:
        return TYPICAL[spelled]
    if NAMED.match(spelled):
        return f"wp.{spelled}"
    if match := re.match(r"Vector\[(\w+), Literal\[(\d)\]\]", spelled):
        scalar, length = match.groups()
        name = "spatial_vector" if length == "6" else f"vec{length}"
        return f"wp.{name}{SUFFIX[scalar]}" if scalar in SUFFIX else None
    if match := re.match(r"Matrix\[(\w+), Literal\[(\d)\], Literal\[(\d)\]\]", spelled):
        scalar, rows, columns = match.groups()
        return f"wp.mat{rows}{columns}{SUFFIX[scalar]}" if scalar in SUFFIX else None
    if match := re.match(r"(Quaternion|Transformation)\[(\w+)\]", spelled):
        name = {"Quaternion": "quat", "Transformation": "transform"}[match.group(1)]
        return f"wp.{name}{SUFFIX[match.group(2)]}"
    return None


def argument(row: dict, name: str, spelled: str, index: int, literal: bool) -> tuple[str, str, str] | None:
    """A parameter of the kernel, a statement that prepares the argument, and the argument.

    None if the argument has a type that no kernel of Assay can hold. With `literal`, integers are constants.
    """
    if array := re.match(r"(Indexed)?(Fabric)?Array\[(.*)\]$", spelled):
        inner = "int" if row["name"] in BITWISE_ATOMICS else element_type(array[3])
        rank = max(1, sum(t == "Int" for t in row["arguments"].values()))
        kind = f"{(array[1] or '').lower()}{(array[2] or '').lower()}array"
        return (f"a{index}: wp.{kind}(dtype={inner}, ndim={rank})", "", f"a{index}") if inner else None
    if spelled.startswith("Tile["):
        inner = element_type(spelled[len("Tile[") :].split(", tuple")[0])
        if row["name"] in BITWISE_OPERATORS:
            inner = "int"
        indices = [name for name in row["arguments"] if name in ("i", "j", "k", "l", "m", "n")]
        if row["name"] == "tile_extract":
            inner = {5: "wp.vec2", 6: "wp.mat22"}.get(len(indices), inner)  # m and n select a component
        if row["name"] in ("tile_fft", "tile_ifft"):
            inner = "wp.vec2"
        is_square = "int, int]" in spelled or row["name"] in ("tile_view", "tile_fft", "tile_ifft")
        rank = min(4, max(len(indices), 2 if is_square else 1))
        if row["name"] == "untile":  # blocks have one thread
            return loaded_tile(index, inner, 1, "1")
        shape = {1: "8", 2: "(8, 8)", 3: "(2, 2, 2)", 4: "(2, 2, 2, 2)"}[rank]
        return loaded_tile(index, inner, rank, shape) if inner else None
    if spelled.startswith("Texture"):
        return (f"a{index}: wp.{spelled}", "", f"a{index}")
    if name == "dtype" and row["name"] == "texture_sample":
        return ("", "", "dtype=float")
    if name == "lod":
        return ("", "", "lod=0.0")
    if name == "id" and spelled == "uint64":
        return (f"a{index}: wp.uint64", "", f"a{index}")
    if spelled == "Callable":
        return ("", "", CALLABLES[row["name"], len(row["arguments"]), row["variadic"]])
    if name == "*args" and row["name"] == "tile_arange":
        return ("", "", "8")
    if name == "*args" and row["name"] == "tile_map":
        return (f"a{index}: wp.array(dtype=float)", "", f"a{index}[i], 0.5")
    if row["name"] == "static":
        return ("", "", "2.0")
    if name == "*args" and row["name"] in COMPONENTS:
        return (f"a{index}: wp.array(dtype=float)", "", f"a{index}[i], {COMPONENTS[row['name']]}")
    if spelled == "tuple":
        return ("", "", "(0,)")
    if spelled.startswith("tuple["):
        return ("", "", "(8,)" if name == "shape" else "(0,)")
    if spelled == "str":
        return ("", "", '"text"')
    if name == "dtype":
        return ("", "", "float")
    if name == "state" and spelled == "uint32":
        return ("", f"s{index} = wp.rand_init(7, i)", f"s{index}")
    if name == "xform" and row["name"].startswith("transform_set"):
        return ("a: wp.array(dtype=wp.transform)", "x = a[i]", "x")
    if (row["name"], name) in RESULTS:
        return ("", f"r{index} = wp.{RESULTS[row['name'], name]}()", f"r{index}")
    if name == "s" and row["name"].startswith("tile_stack_"):
        return ("", f"s{index} = wp.tile_stack(capacity=4, dtype=float)", f"s{index}")
    if name == "query":
        return ("", f"q{index} = wp.{QUERIES[spelled]}", f"q{index}") if spelled in QUERIES else None
    if row["name"] in CHANGE_INDEX and name == "index":
        return ("", f"n{index} = int(0)", f"n{index}")
    if literal and spelled in ("int", "int32", "Int"):
        return ("", "", "0" if name == "axis" else "2")
    inner = element_type(spelled)
    if spelled == "Any" and row["name"] in OF_VECTORS:
        inner = "wp.vec3"
    if spelled == "Any" and row["name"] in BITWISE_ATOMICS:
        inner = "int"
    return (f"a{index}: wp.array(dtype={inner})", "", f"a{index}[i]") if inner else None


@dataclass(frozen=True)
class Sink:
    """How a kernel stores a value that depends on the results of a builtin."""

    array: str  # the arguments of the type of the output array
    store: str  # the statement; empty if the builtin itself changes an array


def loaded_tile(index: int, element: str, rank: int, shape: str) -> tuple[str, str, str]:
    """A tile that is loaded from a parameter, as `argument` returns it."""
    parameter = f"a{index}: wp.array(dtype={element}, ndim={rank})"
    return (parameter, f"t{index} = wp.tile_load(a{index}, shape={shape})", f"t{index}")


def kernel(row: dict, name: str, attempt: int, sink: Sink | None = None) -> str:
    """A kernel that calls one documented form in one way of ATTEMPTS; empty if an argument cannot be written.

    With `sink`, the kernel stores what the sink reads; otherwise, it stores a constant.
    """
    results, literal = ATTEMPTS[attempt]
    made = [argument(row, n, t, k, literal) for k, (n, t) in enumerate(row["arguments"].items())]
    if any(m is None for m in made):
        return ""
    parameters = [m[0] for m in made if m[0]]
    body = ["i = wp.tid()", *[m[1] for m in made if m[1]], results + call(row, [m[2] for m in made])]
    if sink is None:
        parameters.append("out: wp.array(dtype=float)")
        body.append("out[i] = 1.0")
    elif sink.store:
        parameters.append(f"out: wp.array({sink.array})")
        body.append(sink.store)
    lines = "".join(f"    {line}\n" for line in body)
    inputs = valid_inputs(row, made) if sink else ""
    return f"{inputs}@wp.kernel\ndef {name}({', '.join(parameters)}):\n{lines}\n\n"


def valid_inputs(row: dict, made: list[tuple[str, str, str]]) -> str:
    """Comments that state typical inputs of a kernel, for which its builtin is well conditioned."""
    comments = [f"domain: {domain}" for domain in DOMAINS.get(row["name"], [])]
    for k, (name, spelled) in enumerate(row["arguments"].items()):
        if name in ("i", "j", "k", "l") and spelled.startswith("int") and made[k][0]:
            comments.append(f"domain: 0 <= a{k} <= 1")
    if row["group"] == "Tile Primitives":
        comments.append("launch: (1)")  # all blocks would store at the same place
    return "".join(f"# {comment}\n" for comment in comments)


def sinks(row: dict, attempt: int) -> list[list[Sink]]:
    """What can store the results of a call, by variable that may hold one.

    For each variable, the sinks are in the order of preference; the first one that Assay reads is used.
    """
    results, literal = ATTEMPTS[attempt]
    variables = results.removesuffix("= ").replace(",", " ").split()
    if not variables:
        made = [argument(row, n, t, k, literal) for k, (n, t) in enumerate(row["arguments"].items())]
        if not made[0][1]:  # the first argument is not a variable, so the builtin changes an array
            return [[Sink("", "")]]
        variables = [variable for parameter, statement, variable in made if statement]
    return [[Sink(array, store.format(variable)) for array, store in STORES] for variable in variables]


# In the order of preference: the type of an output array and the statement that stores a variable in it.
STORES = [
    *[("dtype=float", f"out[i] = float({{}}{part})") for part in ("", "[0]", "[1, 0]", "[0, 0]", ".u", ".t")],
    *[
        (f"dtype={element}, ndim={rank}", "wp.tile_store(out, {})")
        for element in ("float", "wp.vec2", "wp.vec3", "wp.float16", "wp.float64")
        for rank in (1, 2, 3, 4)
    ],
]


# By builtin: inputs away from points at which the derivative is infinite.
DOMAINS = {
    "acos": ["-0.9 <= a0 <= 0.9"],
    "asin": ["-0.9 <= a0 <= 0.9"],
    "erfinv": ["-0.9 <= a0 <= 0.9"],
    "erfcinv": ["0.1 <= a0 <= 1.9"],
    "tile_lower_solve": ["0.5 <= a0 <= 1"],
}
# What receives the results, and whether integers are constants.
ATTEMPTS = [(results, literal) for literal in (False, True) for results in ("r = ", "", "r, q = ", "r, q, p = ")]
# By builtin, number of parameters and whether more may follow: the function that is applied to elements.
CALLABLES = {
    ("tile_map", 2, False): "wp.sin", ("tile_map", 3, False): "wp.max", ("tile_map", 3, True): "weighted",
    ("tile_reduce", 2, False): "wp.add", ("tile_reduce", 3, False): "wp.add",
}  # fmt: skip
HEADER = """import warp as wp


@wp.func
def weighted(a: float, b: float, c: float):
    return a * b + c


"""
# By constructor: the components after the first one.
COMPONENTS = {"vector": "0.5", "matrix": "0.5, 0.5, 0.5, shape=(2, 2)"}
BITWISE_OPERATORS = ("bit_and", "bit_or", "bit_xor")
BITWISE_ATOMICS = ("atomic_and", "atomic_or", "atomic_xor")
CHANGE_INDEX = ("mesh_query_next", "mesh_query_aabb_next", "hash_grid_query_next", "bvh_query_next")
# Parameters that receive a result, and their types.
RESULTS = {
    ("qr3", "Q"): "mat33", ("qr3", "R"): "mat33", ("svd2", "U"): "mat22", ("svd2", "sigma"): "vec2",
    ("svd2", "V"): "mat22", ("quat_to_axis_angle", "axis"): "vec3", ("quat_to_axis_angle", "angle"): "float32",
    ("volume_sample_grad", "grad"): "vec3", ("volume_sample_grad_f", "grad"): "vec3",
    ("volume_sample_grad_index", "grad"): "vec3",
}  # fmt: skip
# By type of a query: a call that returns it.
QUERIES = {
    "MeshQueryAABB": "mesh_query_aabb(wp.uint64(1), wp.vec3(), wp.vec3())",
    "_MeshQuerySphere": "mesh_query_sphere(wp.uint64(1), wp.vec3(), 1.0)",
    "HashGridQuery[float16]": "hash_grid_query(wp.uint64(1), wp.vec3h(), wp.float16(1.0))",
    "HashGridQuery[float32]": "hash_grid_query(wp.uint64(1), wp.vec3(), 1.0)",
    "HashGridQuery[float64]": "hash_grid_query(wp.uint64(1), wp.vec3d(), wp.float64(1.0))",
    "_BvhQueryAabb": "bvh_query_aabb(wp.uint64(1), wp.vec3(), wp.vec3())",
    "_BvhQueryRay": "bvh_query_ray(wp.uint64(1), wp.vec3(), wp.vec3())",
    "_BvhQueryCapsule": "bvh_query_capsule(wp.uint64(1), wp.vec3(), wp.vec3(), 1.0)",
    "_BvhQuerySphere": "bvh_query_sphere(wp.uint64(1), wp.vec3(), 1.0)",
    "BvhQueryTiled": "tile_bvh_query_aabb(wp.uint64(1), wp.vec3(), wp.vec3())",
    "MeshQueryAABBTiled": "tile_mesh_query_aabb(wp.uint64(1), wp.vec3(), wp.vec3())",
}
OF_VECTORS = ("norm_huber", "norm_l1", "norm_l2", "norm_pseudo_huber", "smooth_normalize")
OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "floordiv": "//", "bit_and": "&", "bit_or": "|",
    "bit_xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
UNARY = {"neg": "-", "pos": "+", "invert": "~", "unot": "not "}
OF_PYTHON = ("len", "print")


def call(row: dict, arguments: list[str]) -> str:
    """The call of the builtin, spelled as an operator where Python has one."""
    name = row["name"]
    if name in OPERATORS and len(arguments) == 2:
        return f"{arguments[0]} {OPERATORS[name]} {arguments[1]}"
    if name in UNARY and len(arguments) == 1:
        return f"{UNARY[name]}{arguments[0]}"
    return f"{'' if name in OF_PYTHON else 'wp.'}{name}({', '.join(arguments)})"
