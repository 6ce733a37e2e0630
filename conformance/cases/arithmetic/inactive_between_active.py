# An integer array and an unused input lie between the active arrays; gradients must land in the right ones.
import warp as wp


# domain: -3 <= k <= 3
@wp.kernel
def inactive_between_active(
    x: wp.array(dtype=float),
    k: wp.array(dtype=int),
    y: wp.array(dtype=float),
    unused: wp.array(dtype=float),
    z: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = x[i] * float(k[i]) + y[i] * y[i] - 3.0 * z[i]
