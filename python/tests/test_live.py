"""``assay run --import`` and ``assay list --import``: live kernels of files and modules, in a confined process."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import assay
import pytest
from assay import _program

try:
    PROGRAM = _program.program()
except assay.ProgramMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

KERNELS = Path(__file__).parent / "kernels.py"


def run(*arguments, cwd):
    command = [PROGRAM, *map(str, arguments), "--python", sys.executable]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def names(output):
    cases = json.loads(output)
    return list(dict.fromkeys(case["kernel"] for case in cases))


def line_of(text, file=KERNELS):
    return next(n for n, line in enumerate(file.read_text().splitlines(), 1) if text in line)


def test_list_command_lists_the_kernels_of_an_imported_file(tmp_path):
    result = run("list", KERNELS, "--import", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    expected = ["scaled_squares", "scaled_halves", "energies", "long_annotation", "without_prefix", "exact"]
    expected += ["any_type", "last_writer", "Solver_step", "shadowing", "calls_native"]
    expected += ["calls_native_with_defaults", "calls_python", "power_kernel", "power_kernel_2", "transformed"]
    assert names(result.stdout) == [f"kernels.{name}" for name in expected]


def test_run_command_judges_a_factory_kernel_selected_by_name(tmp_path):
    options = ["--import", "--quick", "--fresh", "--keep-export", "e"]
    result = run("run", f"{KERNELS}:scaled_squares", *options, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert [f.name for f in (tmp_path / "e").iterdir()] == ["kernels.scaled_squares.py"]
    assert "factor = 2.5" in (tmp_path / "e" / "kernels.scaled_squares.py").read_text()


def test_failure_has_the_original_line_and_can_be_reproduced(tmp_path):
    result = run("run", f"{KERNELS}:last_writer", "--import", "--quick", "--fresh", "--reduce", "0", cwd=tmp_path)
    assert result.returncode == 1
    assert f"line {line_of('out[0] = x[i]')}" in result.stdout
    records = [json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_text().splitlines()]
    record = next(r for r in records if r.get("outcome") == "defect")
    assert record["finding"]["line"] == line_of("out[0] = x[i]")
    words = shlex.split(record["reproduce"])
    assert words[:4] == ["assay", "run", "--import", "--python"]
    assert f"{KERNELS}:last_writer" in words
    again = subprocess.run([PROGRAM, *words[1:], "--fresh", "--reduce", "0"], cwd=tmp_path, check=False)
    assert again.returncode == 1


def test_unsupported_kernel_is_reported_with_the_original_file(tmp_path):
    result = run("list", f"{KERNELS}:calls_native", "--import", "--json", cwd=tmp_path)
    reason = json.loads(result.stdout)[0]["unreadable"]
    assert reason.startswith(f"{KERNELS}:")
    assert "line 1 of the native code: 'for' is not supported" in reason


def test_module_pattern_selects_the_kernels_of_submodules(tmp_path):
    package = tmp_path / "pack" / "inner"
    package.mkdir(parents=True)
    (tmp_path / "pack" / "__init__.py").write_text("from pack.inner import loaded\n")
    (package / "__init__.py").write_text("")
    for name in ("loaded", "other"):
        text = "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=float)):\n    x[wp.tid()] = 1.0\n"
        (package / f"{name}.py").write_text(text)
    (package / "broken.py").write_text("1 / 0\n")
    result = run("list", "--module", "pack", "--import", "--json", cwd=tmp_path)
    assert names(result.stdout) == ["pack.inner.loaded.k"]
    result = run("list", "--module", "pack.*", "--import", "--json", cwd=tmp_path)
    assert names(result.stdout) == ["pack.inner.loaded.k", "pack.inner.other.k"]
    assert "pack/inner/broken.py:1: not imported: import failed: ZeroDivisionError: division by zero" in result.stderr
    result = run("list", "pack.inner.other:k", "--import", "--json", cwd=tmp_path)
    assert names(result.stdout) == ["pack.inner.other.k"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise ValueError('no')\n", "assay: error: user.py:1: import failed: ValueError: no\n"),
        ("x = 1\n", "assay: error: user.py: no kernel exists after the import\n"),
        (
            "import os\nos._exit(0)\n",
            "assay: error: user.py: import failed: the imported code ended the process with status 0\n",
        ),
    ],
)
def test_failed_import_is_a_usage_error(tmp_path, text, message):
    (tmp_path / "user.py").write_text(text)
    result = run("run", "user.py", "--import", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (2, message)
    assert not (tmp_path / "out").exists()


def test_unknown_kernel_is_a_usage_error(tmp_path):
    result = run("run", f"{KERNELS}:energie", "--import", cwd=tmp_path)
    assert result.returncode == 2
    assert "unknown kernel 'energie'" in result.stderr
    assert "did you mean 'energies'" in result.stderr


def test_import_of_a_folder_is_a_usage_error(tmp_path):
    result = run("run", "./", "--import", cwd=tmp_path)
    assert result.returncode == 2
    assert "--import expects a Python file or the name of a module" in result.stderr
