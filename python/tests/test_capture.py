"""Kernels judged on the arguments of real launches."""

import json
import sys
from pathlib import Path

import assay
import numpy as np
import pytest
import warp as wp
from assay import _launches, _program

try:
    _program.program()
except assay.ProgramMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

pytest_plugins = ["pytester"]
QUICK = ["--quick"]


@wp.struct
class Spring:
    stiffness: float
    rest: wp.vec2


@wp.kernel
def stretch(x: wp.array(dtype=wp.vec3), spring: Spring, on: bool, out: wp.array(dtype=float)):
    i = wp.tid()
    if on:
        out[i] = spring.stiffness * wp.dot(x[i], x[i]) - spring.rest[1]


@wp.kernel
def scatter(x: wp.array(dtype=float), index: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[index[i]] = x[i] * x[i]


@wp.kernel
def add_one(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] + 1.0


@wp.func
def cube(x: float):
    return x * x * x


@wp.func_grad(cube)
def adj_cube(x: float, adj_ret: float):
    wp.adjoint[x] += 3.03 * x * x * adj_ret


@wp.kernel
def cubes(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = cube(x[i])


# Above this kernel:
# custom gradients: trusted
@wp.kernel
def trusted_cubes(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = cube(x[i])


@wp.func
def element(a: wp.array(dtype=float), k: int):
    return a[k] * a[k]


@wp.func_grad(element)
def adj_element(a: wp.array(dtype=float), k: int, adj_ret: float):
    wp.adjoint[a][k] += 2.0 * a[k] * adj_ret


@wp.kernel
def gathered_elements(x: wp.array(dtype=float), index: wp.array(dtype=int), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = element(x, index[i])


def spring() -> Spring:
    value = Spring()
    value.stiffness = 2.5
    value.rest = wp.vec2(0.5, 0.25)
    return value


def stretch_arguments():
    x = wp.array(np.linspace(0.5, 1.5, 15, dtype=np.float32).reshape(5, 3), dtype=wp.vec3)
    return [x, spring(), True], [wp.zeros(5, dtype=float)]


def scatter_arguments(index):
    x = wp.array(np.linspace(1, 2, len(index)), dtype=float)
    return [x, wp.array(index, dtype=int)], [wp.zeros(len(index), dtype=float)]


def test_recorded_arguments_are_copies_in_memory_order():
    inputs, outputs = stretch_arguments()
    launch = _launches.record(stretch, 5, inputs, outputs)
    inputs[0].fill_(0.0)
    x, value, on, out = launch.arguments
    assert launch.dim == (5,)
    assert (x.dtype, x.shape, x.strides) == ("vec3f", (5,), (12,))
    assert x.content.shape == (5, 3)
    assert x.content[0, 0] == np.float32(0.5)
    assert value.value == (2.5, 0.5, 0.25)
    assert on.value == (True,)
    assert out.content.shape == (5,)


def test_record_lists_the_arrays_that_share_memory():
    x = wp.zeros(8, dtype=float)
    shared = _launches.record(add_one, 4, [x[0:4]], [x[2:6]]).arguments
    assert [a.shares_memory_with for a in shared] == [("out",), ("x",)]
    apart = _launches.record(add_one, 4, [x[0:4]], [x[4:8]]).arguments
    interleaved = _launches.record(add_one, 4, [x[0:8:2]], [x[1:8:2]]).arguments
    assert [a.shares_memory_with for a in (*apart, *interleaved)] == [()] * 4


def test_record_contains_the_first_parameter_with_the_same_array():
    x = wp.zeros(8, dtype=float)
    assert [a.same_array_as for a in _launches.record(add_one, 4, [x], [x]).arguments] == ["", "x"]
    assert [a.same_array_as for a in _launches.record(add_one, 4, [x[0:4]], [x]).arguments] == ["", ""]


def test_arguments_above_the_size_limit_are_not_recorded():
    x = wp.zeros(1000, dtype=float)
    launch = _launches.record(add_one, 1000, [x], [x], max_bytes=4000)
    assert launch.not_recorded == "its arguments take 8000 bytes, more than the limit of 4000"
    assert launch.arguments == ()


@wp.struct
class Box:
    shape: float
    dtype: int


@wp.kernel
def fill(box: Box, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = box.shape


@wp.struct
class Rows:
    row: wp.array(dtype=float)


@wp.kernel
def first_of_each(rows: wp.array(dtype=Rows), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = rows[i].row[0]


def test_structs_with_arrays_are_not_recorded():
    one = Rows()
    one.row = wp.ones(1, dtype=float)
    rows, out = wp.array([one], dtype=Rows), wp.zeros(1, dtype=float)
    launch = _launches.record(first_of_each, 1, [rows], [out])
    assert launch.not_recorded == "argument 'rows' is an array of structs with arrays"
    assay.assert_verified(first_of_each, options=QUICK)


def test_capture_does_not_change_launches_or_their_errors():
    with assay.capture() as c:
        wp.launch(fill, [2], inputs=[Box()], outputs=[wp.zeros(2, dtype=float)])
        wp.launch(fill, np.array([2]), inputs=[Box()], outputs=[wp.zeros(2, dtype=float)])
        with pytest.raises(RuntimeError, match="passed 1 arguments"):
            wp.launch(fill, 2, inputs=[Box()])
        with pytest.raises(RuntimeError, match="can only launch functions"):
            wp.launch("fill", 2)
    assert c.counts == {"fill": 3}
    assert [launch.is_recorded for launch in c.launches] == [True, False]
    assert wp.launch.__module__ == "warp._src.context"
    assert not hasattr(wp.launch, "__wrapped__")


def test_each_captured_kernel_is_judged_on_its_recorded_arguments():
    with assay.capture() as c:
        inputs, outputs = stretch_arguments()
        for _ in range(3):
            wp.launch(stretch, 5, inputs, outputs)
        inputs, outputs = scatter_arguments([3, 1, 0, 2])
        wp.launch(scatter, dim=4, inputs=inputs, outputs=outputs)
    wp.launch(add_one, 4, inputs=[outputs[0]], outputs=[wp.zeros(4, dtype=float)])
    assert c.counts == {"stretch": 3, "scatter": 1}
    report = c.verify(options=QUICK)
    assert [(r.kernel, r.launches) for r in report] == [("stretch", 1), ("scatter", 1)]
    assert report.is_verified, str(report)
    assert report[0].launched_at.startswith(f"{__file__}:")


def test_race_caused_by_recorded_arguments_is_a_defect():
    inputs, outputs = scatter_arguments([3, 1, 3, 2])
    with pytest.raises(assay.VerificationFailed, match=r"defect\(race\).*in the recorded launch"):
        assay.assert_verified(scatter, dim=4, inputs=inputs, outputs=outputs, options=QUICK)
    assay.assert_verified(scatter, options=QUICK)


def test_index_out_of_bounds_is_a_defect_with_the_original_line():
    inputs, outputs = scatter_arguments([3, 1, 4, 2])
    with pytest.raises(assay.VerificationFailed, match=r"out_of_bounds") as failed:
        assay.assert_verified(scatter, dim=4, inputs=inputs, outputs=outputs, options=QUICK)
    lines = Path(__file__).read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if "out[index[i]] =" in text)
    assert f"line {line} of {__file__}" in str(failed.value)


def test_array_passed_for_two_parameters_is_judged_as_one():
    x = wp.ones(4, dtype=float)
    with assay.capture() as c:
        wp.launch(add_one, 4, inputs=[x], outputs=[x])
    (result,) = c.verify(options=QUICK)
    assert {v.outcome for v in result.verdicts} == {"pass"}


def test_different_arrays_that_share_memory_are_unsupported():
    x = wp.ones(6, dtype=float)
    with assay.capture() as c:
        wp.launch(add_one, 4, inputs=[x[0:4]], outputs=[x[2:6]])
    (result,) = c.verify(options=QUICK)
    assert {v.outcome for v in result.verdicts} == {"unsupported"}
    assert "arrays 'x' and 'out' share memory and the kernel changes 'out'" in str(result)


def test_each_launched_instance_of_a_generic_kernel_is_judged():
    from typing import Any

    @wp.kernel
    def doubled(x: wp.array(dtype=Any), out: wp.array(dtype=Any)):
        i = wp.tid()
        out[i] = x[i] + x[i]

    with assay.capture() as c:
        for dtype in (float, wp.vec2d):
            wp.launch(doubled, 3, inputs=[wp.ones(3, dtype=dtype)], outputs=[wp.zeros(3, dtype=dtype)])
    report = c.verify(options=QUICK)
    assert len(report) == 2
    assert report.is_verified, str(report)


def test_saved_folder_can_be_judged_again(tmp_path):
    with assay.capture() as c:
        inputs, outputs = stretch_arguments()
        wp.launch(stretch, 5, inputs, outputs)
    report = c.save(tmp_path, options=QUICK)
    assert (tmp_path / "reports" / "report.html").exists()
    (launch,) = (tmp_path / "launches").glob("*.json")
    assert json.loads(launch.read_text())["launched_at"] == report[0].launched_at
    folders = {name: str(tmp_path / name) for name in ("kernels", "launches", "again")}
    again = _program.run(
        ["run", folders["kernels"], "--launches", folders["launches"], "--output", folders["again"], "--quick"]
    )
    assert again.returncode == 0, again.stdout + again.stderr


def test_notebook_table_shows_outcomes_and_messages():
    x = wp.ones(6, dtype=float)
    with assay.capture() as c:
        wp.launch(add_one, 4, inputs=[x[0:4]], outputs=[x[2:6]])
    table = c.verify(options=QUICK)._repr_html_()
    assert "<td" in table and "unsupported(launch)" in table
    assert "arrays &#x27;x&#x27; and &#x27;out&#x27; share memory" in table


def test_gradcheck_accepts_correct_gradients_and_rejects_incorrect_ones(capsys):
    x = wp.array(np.linspace(1, 2, 6), dtype=float, requires_grad=True)
    out = wp.zeros(6, dtype=float, requires_grad=True)
    assert assay.gradcheck(add_one, dim=6, inputs=[x], outputs=[out], options=QUICK)
    assert "add_one backward on cpu: pass" in capsys.readouterr().out
    assert not assay.gradcheck(cubes, 6, [x], [out], raise_exception=False, show_summary=False, options=QUICK)
    with pytest.raises(ValueError, match=r"custom gradient of 'cube'"):
        assay.gradcheck(cubes, 6, [x], [out], options=QUICK)
    assert assay.gradcheck(cubes, 6, [x], [out], options=[*QUICK, "--trust-custom-gradients"])


def test_custom_gradient_of_an_array_is_exported_and_verified():
    assert "@wp.func_grad(element)" in assay.export(gathered_elements)
    x, out = wp.ones(6, dtype=float, requires_grad=True), wp.zeros(6, dtype=float, requires_grad=True)
    index = wp.array([3, 3, 0, 5, 1, 3], dtype=int)
    assert assay.gradcheck(gathered_elements, 6, [x, index], [out], options=QUICK)


def test_comments_above_a_kernel_are_exported():
    assert "# Above this kernel:\n# custom gradients: trusted\n# source:" in assay.export(trusted_cubes)
    x, out = wp.ones(6, dtype=float), wp.zeros(6, dtype=float)
    assay.assert_verified(trusted_cubes, dim=6, inputs=[x], outputs=[out], options=QUICK)


def test_gradcheck_accepts_a_function_that_launches_kernels():
    def function(x):
        out = wp.zeros_like(x)
        wp.launch(add_one, 6, inputs=[x], outputs=[out])
        return out

    assert assay.gradcheck(function, inputs=[wp.ones(6, dtype=float)], options=QUICK)
    with pytest.raises(ValueError, match="launched no kernel"):
        assay.gradcheck(lambda x: x, inputs=[1.0])


SCRIPT = """
import sys
import warp as wp

@wp.kernel
def shift(x: wp.array(dtype=float), by: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i] + by

out = wp.zeros(4, dtype=float)
wp.launch(shift, 4, inputs=[wp.ones(4, dtype=float), float(sys.argv[1])], outputs=[out])
print("by", out.numpy()[0] - 1.0)
if sys.argv[1] == "7":
    raise SystemExit("a reason")
"""


def test_capture_command_judges_the_kernels_of_a_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(assay.__file__).parent.parent))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    options = ["capture", "--quick", "--output", str(tmp_path / "found"), "--", sys.executable, str(script)]
    ran = _program.run([*options, "2.5"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "by 2.5" in ran.stdout
    assert "shift: forward pass, backward pass on cpu (1 recorded launch)" in ran.stdout
    assert (tmp_path / "found" / "reports" / "report.html").exists()
    assert _program.run([*options, "7"]).returncode == 1
    script.write_text("print('nothing')\n")
    ran = _program.run(options)
    assert ran.returncode == 4
    assert ran.stderr.endswith("assay: the program launched no kernel\n")


TESTS = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import pytest, warp as wp
import test_capture as t

def launch(index):
    inputs, outputs = t.scatter_arguments(index)
    wp.launch(t.scatter, 4, inputs=inputs, outputs=outputs)

def test_correct_arguments():
    launch([3, 1, 0, 2])

@pytest.mark.unverified_kernels("scatter", reason="races")
def test_expected_failure():
    launch([3, 3, 0, 2, 1])

@pytest.mark.unverified_kernels("scatter")
def test_unexpected_pass():
    launch([3, 1, 0, 2])
"""


def test_plugin_judges_arguments_and_expects_marked_failures(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(assay.__file__).parent.parent))
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess(
        "-p", "assay.pytest_plugin", "--verify-kernels", "--verify-output", "found", "-p", "no:cacheprovider"
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*scatter is verified; remove it from the marker*", "scatter: forward pass, backward pass on cpu (1 recorded*"]
    )
    assert (pytester.path / "found" / "reports" / "junit.xml").exists()
