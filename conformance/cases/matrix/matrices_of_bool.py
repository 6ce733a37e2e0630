# A matrix of bool records which pairs of components are in order; it is read, changed, chosen, compared and stored.
import warp as wp

mat22b = wp.types.matrix(shape=(2, 2), dtype=wp.bool)


@wp.func
def ordered(u: wp.vec2, v: wp.vec2):
    return mat22b(u[0] < v[0], u[0] < v[1], u[1] < v[0], u[1] < v[1])


@wp.kernel
def matrices_of_bool(
    x: wp.array(dtype=wp.vec2),
    y: wp.array(dtype=wp.vec2),
    flags: wp.array(dtype=mat22b),
    out: wp.array(dtype=float),
    stored: wp.array(dtype=mat22b),
    same: wp.array(dtype=wp.bool),
):
    i = wp.tid()
    less = ordered(x[i], y[i])
    s = float(0.0)
    for r in range(2):
        for c in range(2):
            if less[r, c]:
                s = s * 0.5 + x[i][r] * y[i][c]
    if flags[i][0, 1] and less[1][0]:
        s = s * 2.0
    less[1, 1] = s > x[i][0] * y[i][1]
    chosen = wp.where(s > 1.0, less, mat22b(True, False, True, False))
    same[i] = chosen == flags[i]
    stored[i] = chosen
    out[i] = s
