"""Verdicts on CUDA code that was written elsewhere."""

from pathlib import Path

import assay
import kernels
import pytest
from assay import _program

try:
    _program.program()
except assay.ProgramMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

SQUARES = """
__global__ void squares(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * x[i] * x[i];
}
"""
CONTRACT = '{"schema_version": "1.0.0", "arguments": ["x", "out", "threads"]}'


@pytest.fixture
def candidate(tmp_path: Path) -> Path:
    (tmp_path / "squares.assay.json").write_text(CONTRACT)
    file = tmp_path / "squares.cu"
    file.write_text(SQUARES)
    return file


def outcome_of(candidate: Path, against) -> assay.Verdict:
    (verdict,) = assay.judge(candidate, against, options=["--quick"])
    if verdict.outcome == "unsupported":
        pytest.skip(verdict.message)
    return verdict


def test_candidate_is_judged_against_live_kernel(candidate):
    assert outcome_of(candidate, kernels.scaled_squares).is_verified


def test_incorrect_candidate_fails(candidate):
    candidate.write_text(SQUARES.replace("2.5f", "2.50001f"))
    assert outcome_of(candidate, kernels.scaled_squares).outcome == "fail"


def test_candidate_is_judged_against_file(candidate, tmp_path):
    specification = tmp_path / "specification.py"
    specification.write_text(assay.export(kernels.scaled_squares))
    assert outcome_of(candidate, specification).is_verified


def test_invalid_contract_is_reported(candidate):
    candidate.with_suffix(".assay.json").write_text("{")
    with pytest.raises(assay.AssayError, match="invalid JSON"):
        assay.judge(candidate, kernels.scaled_squares)
