# All threads add a matrix to one element; the reverse reads one gradient many times.
import warp as wp


@wp.kernel
def summed_matrices(
    x: wp.array(dtype=wp.vec2),
    w: wp.array(dtype=float),
    out: wp.array(dtype=wp.mat22),
):
    i = wp.tid()
    wp.atomic_add(out, 0, wp.outer(x[i], x[i]) * w[i])
