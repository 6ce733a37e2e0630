# where and conditional expressions between vectors.
import warp as wp


@wp.kernel
def chosen_vectors(
    a: wp.array(dtype=wp.vec2),
    b: wp.array(dtype=wp.vec2),
    out: wp.array(dtype=wp.vec2),
):
    i = wp.tid()
    near = wp.where(wp.length_sq(a[i]) < wp.length_sq(b[i]), a[i], b[i])
    out[i] = near * 2.0 + (a[i] if a[i][0] > 0.0 else b[i] * a[i][1])
