"""Verdicts on live kernels, and the pytest plugin."""

from pathlib import Path

import assay
import kernels
import pytest
from assay import _program

try:
    _program.program()
except assay.ProgramMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

pytest_plugins = ["pytester"]


def test_correct_kernel_is_verified_forward_and_backward():
    verdicts = assay.assert_verified(kernels.scaled_squares, options=["--quick"])
    assert {v.pass_name for v in verdicts} == {"forward", "backward"}
    assert all(v.values_compared > 0 for v in verdicts)


def test_failure_message_contains_the_original_line():
    with pytest.raises(assay.VerificationFailed) as failed:
        assay.assert_verified(kernels.last_writer, options=["--quick"])
    line = next(
        n for n, text in enumerate(Path(kernels.__file__).read_text().splitlines(), 1) if "out[0] = x[i]" in text
    )
    assert f"line {line} of {kernels.__file__}" in str(failed.value)
    assert failed.value.verdicts[0].kind == "race"


def test_missing_program_is_reported_with_its_path(monkeypatch):
    monkeypatch.setenv("ASSAY_PROGRAM", "/nowhere/assay")
    with pytest.raises(assay.ProgramMissing, match="/nowhere/assay"):
        assay.verify(kernels.scaled_squares)


TESTS = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import kernels, warp as wp

def launch(kernel):
    wp.launch(kernel, dim=2, inputs=[wp.ones(2, dtype=float), wp.zeros(2, dtype=float)])

def test_correct_kernel():
    launch(kernels.scaled_squares)

def test_racing_kernel():
    launch(kernels.last_writer)
"""


@pytest.fixture(autouse=True)
def _package_on_path(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(assay.__file__).parent.parent))


def test_plugin_fails_a_test_that_launches_an_incorrect_kernel(pytester):
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("-p", "assay.pytest_plugin", "--verify-kernels")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*last_writer forward on cpu: defect(race)*", "scale: forward pass, backward pass on cpu (1 recorded launch)"]
    )


def test_plugin_does_nothing_without_its_option(pytester):
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess("-p", "assay.pytest_plugin").assert_outcomes(passed=2)
