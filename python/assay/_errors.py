"""Errors that the package raises."""

from __future__ import annotations


class AssayError(Exception):
    """Base class of all errors of this package."""


class CannotExport(AssayError):
    """A kernel cannot be written as a standalone file; the message gives the reason."""


class ProgramMissing(AssayError):
    """The program ``assay`` was not found."""


class VerificationFailed(AssertionError):
    """A kernel was not verified.

    Attributes
    ----------
    verdicts
        All verdicts on the kernel, as :class:`assay.Verdict`.
    """

    def __init__(self, message: str, verdicts: list) -> None:
        super().__init__(message)
        self.verdicts = verdicts


class GradcheckFailed(VerificationFailed, ValueError):
    """A gradient was not verified by :func:`assay.gradcheck`; a ``ValueError`` as in ``warp.autograd.gradcheck``."""
