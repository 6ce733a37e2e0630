"""Checks the gradients of one launch: a replacement for ``warp.autograd.gradcheck``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warp._src import context

from assay._capture import Capture
from assay._errors import GradcheckFailed
from assay._judge import Report, judge
from assay._launches import record


def gradcheck(
    function: Any,
    dim: Any = None,
    inputs: Sequence[Any] | None = None,
    outputs: Sequence[Any] | None = None,
    *,
    eps: float = 1e-4,
    atol: float = 1e-3,
    rtol: float = 1e-2,
    raise_exception: bool = True,
    input_output_mask: list[tuple[str | int, str | int]] | None = None,
    device: Any = None,
    max_blocks: int = 0,
    block_dim: int | None = None,
    max_inputs_per_var: int = -1,
    max_outputs_per_var: int = -1,
    plot_relative_error: bool = False,
    plot_absolute_error: bool = False,
    show_summary: bool = True,
    restore_inputs: bool = True,
    judged_on: str = "cpu",
    options: Sequence[str] = (),
) -> bool:
    """Check the gradients of a kernel on these arguments, with computed error bounds.

    A drop-in replacement for ``warp.autograd.gradcheck``: it has the same parameters and returns or raises in the same
    cases. It compares the gradient of every output with respect to every input element by element, so there is no step
    size and no tolerance. The kernel is also judged on perturbed copies of the arguments, which are not modified
    themselves.

    Parameters
    ----------
    function
        A kernel, or a Python function that launches kernels, each of which is judged on its arguments.
    dim, inputs, outputs, device, block_dim
        As for ``wp.launch``. For a Python function, `inputs` are its arguments, and the function is called.
    eps, atol, rtol, input_output_mask, max_blocks, max_inputs_per_var, max_outputs_per_var
        Without effect.
    plot_relative_error, plot_absolute_error, restore_inputs
        Without effect.
    raise_exception
        Raise an error instead of returning ``False``.
    show_summary
        Print one line for each pass of each kernel.
    judged_on
        Where the kernel is judged: ``"cpu"``, ``"ptx"`` or ``"cuda"``.
    options
        Further options of ``assay run``.

    Returns
    -------
    bool
        Whether every pass is verified. ``False`` also if Assay does not support the kernel or could not decide.

    Raises
    ------
    GradcheckFailed
        A ``ValueError``, if a pass is not verified and `raise_exception` is true.
    """
    if inputs is None:
        raise ValueError("the argument inputs is required")
    if isinstance(function, context.Kernel):
        if dim is None or outputs is None:
            raise ValueError("the arguments dim and outputs are required for a kernel")
        launch = record(function, dim, inputs, outputs, block_dim=block_dim, device=device)
        report = judge([launch], device=judged_on, options=options)
    else:
        report = _judge_function(function, inputs, judged_on, options)
    if show_summary:
        print(report)
    if not report.is_verified and raise_exception:
        raise GradcheckFailed(str(report), [v for result in report for v in result.verdicts])
    return report.is_verified


def _judge_function(function: Callable[..., Any], inputs: Sequence[Any], device: str, options: Sequence[str]) -> Report:
    with Capture() as capture:
        function(*inputs)
    if not capture.launches:
        raise ValueError("the function launched no kernel")
    return capture.verify(device=device, options=options)
