# A parameter is copied into a variable that changes; the parameter itself is used again after it.
import warp as wp


@wp.kernel
def copied_and_changed(x: wp.array(dtype=float), a: float, out: wp.array(dtype=float)):
    i = wp.tid()
    t = a
    t = t * x[i] + 1.0
    t = t * t
    out[i] = t - a * 3.0
