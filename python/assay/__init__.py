"""Verify NVIDIA Warp kernels and their gradients against computed error bounds.

>>> import assay
>>> assay.assert_verified(my_kernel)  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from assay._errors import AssayError, CannotExport, GradcheckFailed, ProgramMissing, VerificationFailed

__all__ = [
    "AssayError",
    "CannotExport",
    "Capture",
    "GradcheckFailed",
    "KernelResult",
    "ProgramMissing",
    "Report",
    "Verdict",
    "VerificationFailed",
    "assert_verified",
    "capture",
    "export",
    "gradcheck",
    "judge",
    "to_parquet",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Load what needs Warp only when it is used, so that ``python -m assay`` works without Warp."""
    if name == "export":
        from assay._export import export

        return export
    if name in ("Verdict", "assert_verified", "verify"):
        from assay import _verify

        return getattr(_verify, name)
    if name in ("Capture", "capture"):
        from assay import _capture

        return getattr(_capture, name)
    if name in ("KernelResult", "Report"):
        from assay import _judge

        return getattr(_judge, name)
    if name == "judge":
        from assay._candidate import judge

        return judge
    if name == "to_parquet":
        from assay._parquet import to_parquet

        return to_parquet
    if name == "gradcheck":
        from assay._gradcheck import gradcheck

        return gradcheck
    raise AttributeError(f"module 'assay' has no attribute {name!r}")
