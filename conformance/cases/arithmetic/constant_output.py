# One output does not depend on any input: its cotangent must not reach a gradient.
import warp as wp


@wp.kernel
def constant_output(
    x: wp.array(dtype=float),
    out: wp.array(dtype=float),
    fixed: wp.array(dtype=float),
):
    i = wp.tid()
    fixed[i] = 2.5
    out[i] = x[i] * 1.5 + 0.25
