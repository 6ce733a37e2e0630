# A variable that both arms replace, from inputs that differ, and that keeps a factor from before.
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
