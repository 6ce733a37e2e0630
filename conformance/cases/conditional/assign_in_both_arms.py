# A variable that both branches replace from different inputs, keeping an earlier factor.
import warp as wp


@wp.kernel
def assign_in_both_arms(
    x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    t = z[i] + 0.5
    if x[i] * y[i] > 0.1:
        t = t * y[i]
    else:
        t = x[i] - t * t
    out[i] = t * 2.0 + z[i]
