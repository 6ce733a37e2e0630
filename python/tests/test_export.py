"""Exported files compute what the live kernels compute."""

import importlib.util
import inspect
import linecache
import sys
import types

import assay
import kernels
import numpy as np
import pytest
import warp as wp


def load(text, folder, name="exported"):
    file = folder / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(f"{name}_{folder.name}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results(kernel, *inputs, dtype=float):
    out = wp.zeros(4, dtype=dtype)
    wp.launch(kernel, dim=4, inputs=[*inputs, out])
    return out.numpy()


X = np.array([0.0, -1.5, 2.0, 3.25])


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.scaled_squares,
        kernels.scaled_halves,
        kernels.Solver.step,
        kernels.shadowing,
        kernels.without_prefix,
    ],
    ids=lambda k: k.key,
)
def test_exported_kernel_gives_the_same_results(kernel, tmp_path):
    module = load(assay.export(kernel), tmp_path)
    exported = getattr(module, kernel.key.split(".")[-1].replace("<locals>", ""), None)
    x = wp.array(X, dtype=float)
    assert np.array_equal(results(kernel, x), results(exported, x))


OPERATOR = """import warp as wp


@wp.func
def mod(a: int, b: int) -> int:
    r = a - a / b * b
    if r < 0:
        r += b
    return r


@wp.kernel
def wrapped(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = float(int(2.0 * x[i]) % 5)
"""


def test_function_that_warp_calls_for_an_operator_is_exported(tmp_path):
    kernel = load(OPERATOR, tmp_path, "operator").wrapped
    text = assay.export(kernel)
    assert "def mod(" in text
    x = wp.array(X, dtype=float)
    expected = results(kernel, x)
    assert expected[1] == 2.0  # -3 % 5: the built-in operator gives -3
    assert np.array_equal(results(load(text, tmp_path).wrapped, x), expected)


def test_file_may_import_warp_under_another_name(tmp_path):
    module = load(
        "import warp as accelerator\n\n\n@accelerator.kernel\n"
        "def k(x: accelerator.array(dtype=float), y: accelerator.array(dtype=float)):\n"
        "    i = accelerator.tid()\n    y[i] = accelerator.sin(x[i])\n",
        tmp_path,
    )
    text = assay.export(module.k)
    assert "i = wp.tid()" in text
    assert "accelerator" not in text.split("@wp.kernel")[1]


def test_exported_doubles_keep_all_digits(tmp_path):
    module = load(assay.export(kernels.exact), tmp_path)
    x = wp.array(X, dtype=wp.float64)
    expected = X * kernels.ROOT + kernels.ROOT * 2.0
    assert np.array_equal(results(module.exact, x, dtype=wp.float64), expected)


def particles_of(struct):
    made = [struct() for _ in range(4)]
    for number, particle in enumerate(made):
        particle.position, particle.mass = wp.vec3(1.0, number, 2.0), 2.0
    return wp.array(made, dtype=struct)


def test_exported_structs_vectors_and_enumerations_give_the_same_results(tmp_path):
    text = assay.export(kernels.energies)
    assert "class Particle:" in text
    assert "GRAVITY" in text
    module = load(text, tmp_path)
    particles, copies = (particles_of(m.Particle) for m in (kernels, module))
    assert np.array_equal(results(kernels.energies, particles, 3.0), results(module.energies, copies, 3.0))


def test_exported_instance_of_generic_kernel_has_concrete_types(tmp_path):
    instance = wp.overload(kernels.any_type, [wp.array(dtype=wp.vec2), wp.array(dtype=wp.vec2)])
    text = assay.export(instance)
    assert "x: wp.array(dtype=wp.vec2f, ndim=1)" in text
    assert "Any)" not in text.split("@wp.kernel")[1]


def test_annotation_of_several_lines_does_not_shift_line_numbers():
    text = assay.export(kernels.long_annotation)
    assert "\\" not in text
    lines = text.splitlines()
    mark = next(n for n, line in enumerate(lines) if line.startswith("# source: "))
    first = int(lines[mark].rsplit(":", 1)[1])
    user = inspect.getsource(kernels).splitlines()
    distance = next(n for n, line in enumerate(lines) if line.strip() == "out[i] = x[i]") - (mark + 2)
    assert user[first - 1 + distance].strip() == "out[i] = x[i]"


def test_lines_below_source_comment_have_original_line_numbers():
    text = assay.export(kernels.scaled_halves).splitlines()
    user = inspect.getsource(kernels).splitlines()
    for number, line in enumerate(text):
        if not line.startswith("# source: "):
            continue
        first = int(line.rsplit(":", 1)[1])
        assert user[first - 1].strip().startswith("def ")
        assert text[number + 2].startswith("def ")
        body = number + 3
        assert text[body].strip() == user[first].strip()


def test_instance_of_generic_kernel_has_original_line_number():
    instance = wp.overload(kernels.any_type, [wp.array(dtype=wp.vec3), wp.array(dtype=wp.vec3)])
    user = inspect.getsource(kernels).splitlines()
    line = next(n for n, text in enumerate(user, 1) if text.startswith("def any_type"))
    assert f"# source: {kernels.__file__}:{line}\n@wp.kernel\n" in assay.export(instance)


def test_comments_above_a_kernel_are_copied_to_the_export():
    text = assay.export(kernels.scaled_squares)
    assert "\n# Comments of the factory stay.\n# domain: -2 <= x <= 2\n# source: " in text
    assert "# domain" not in assay.export(kernels.energies)


def test_native_functions_are_exported_as_declared(tmp_path):
    text = assay.export(kernels.calls_native)
    assert "@wp.func_native('for (;;) return x;')\ndef native(x: wp.float32) -> float: ...\n" in text
    module = load(text, tmp_path)
    x = wp.array(X, dtype=float)
    assert np.array_equal(results(kernels.calls_native, x), results(module.calls_native, x))


def test_native_functions_keep_their_default_arguments(tmp_path):
    text = assay.export(kernels.calls_native_with_defaults)
    assert "(x: wp.float32, factor: wp.float32 = 2.0, offset: wp.int32 = 3) -> float: ...\n" in text
    module = load(text, tmp_path)
    x = wp.array(X, dtype=float)
    expected = results(kernels.calls_native_with_defaults, x)
    assert np.array_equal(expected, results(module.calls_native_with_defaults, x))


def test_static_expressions_have_their_value_at_kernel_definition(tmp_path):
    texts = [assay.export(kernel) for kernel in kernels.powers]
    assert ["x[i] * 1.0" in texts[0], "x[i] * 2.0" in texts[1]] == [True, True]


def test_code_transformers_are_applied_before_export(tmp_path):
    text = assay.export(kernels.transformed)
    assert "3.0 * x[i]" in text
    assert "# source: " not in text
    module = load(text, tmp_path)
    x = wp.array(X, dtype=float)
    assert np.array_equal(results(kernels.transformed, x), results(module.transformed, x))


APPLIED = """import math

import numpy as np
import warp as wp

TAPS = [0.25, 0.5, 0.25]
OFFSETS = ((-1, 0.5), (1, 2.0))


@wp.func
def inc(x: float):
    return x + 1.0


@wp.func
def twice(f: wp.Function, x: float):
    return f(f(x))


@wp.kernel
def applied(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = twice(inc, x[i])


@wp.kernel
def wave(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = math.sin(x[i]) + np.cos(x[i])


@wp.kernel
def filtered(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.0)
    for k in range(3):
        s += wp.static(TAPS[k]) * x[wp.clamp(i + k - 1, 0, 3)]
    for k in range(2):
        s += wp.static(OFFSETS[k][1]) * x[wp.clamp(i + wp.static(OFFSETS[k][0]), 0, 3)]
    out[i] = s
"""


@pytest.mark.parametrize("name", ["applied", "wave", "filtered"])
def test_exported_functions_and_tables_give_the_same_results(name, tmp_path):
    module = load(APPLIED, tmp_path, "user")
    kernel = getattr(module, name)
    exported = getattr(load(assay.export(kernel), tmp_path), name)
    x = wp.array(X, dtype=float)
    assert np.array_equal(results(kernel, x), results(exported, x))


NUMPY_SCALAR = """import numpy as np
import warp as wp

SCALE = np.{kind}(2)


@wp.kernel
def scaled(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] * float({scale})
"""


@pytest.mark.parametrize(("kind", "scale"), [("float64", "SCALE"), ("int32", "SCALE"), ("int32", "wp.static(SCALE)")])
def test_numpy_scalars_which_warp_does_not_compile_are_not_exported(kind, scale, tmp_path):
    kernel = load(NUMPY_SCALAR.format(kind=kind, scale=scale), tmp_path, "user").scaled
    with pytest.raises(assay.CannotExport, match=f"NumPy scalar of type {kind}"):
        assay.export(kernel)
    with pytest.raises(Exception, match="numpy"):
        results(kernel, wp.array(X, dtype=float))


def test_error_states_why_a_kernel_cannot_be_exported():
    with pytest.raises(assay.CannotExport, match="calls the Python function print_all"):
        assay.export(kernels.calls_python)


def test_kernel_of_a_file_changed_after_import_is_not_exported(tmp_path):
    text = "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[0] = 1.0\n"
    module = load(text, tmp_path, "changing")
    (tmp_path / "changing.py").write_text(text.replace("1.0", "2.0"))
    with pytest.raises(assay.CannotExport, match="has changed since it was imported"):
        assay.export(module.k)


def test_export_rejects_an_object_that_is_not_a_kernel():
    with pytest.raises(TypeError, match="expected a kernel"):
        assay.export(kernels.square)


class Shell:
    """Names the cell of a notebook, as IPython's shell does."""

    compile = property(lambda self: self)

    def format_code_name(self, path):
        return ("Cell", "In[3]") if path.endswith("/cell.py") else None


def test_export_of_a_notebook_kernel_contains_the_cell_number(tmp_path, monkeypatch):
    path = str(tmp_path / "cell.py")  # never written, as IPython does not write it
    text = "@wp.kernel\ndef doubled(x: wp.array(dtype=float)):\n    x[wp.tid()] = 2.0 * x[wp.tid()]\n"
    monkeypatch.setitem(linecache.cache, path, (len(text), None, text.splitlines(keepends=True), path))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=Shell))
    names = {"wp": wp, "__name__": "__main__"}
    exec(compile(text, path, "exec"), names)
    exported = assay.export(names["doubled"])
    assert "# source: In[3]:2\n" in exported
    assert "# file:" not in exported
