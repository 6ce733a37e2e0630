# Indices below zero count from the end, at run time, in arrays, vectors, matrices and quaternions.
import warp as wp


# domain: -2 <= k <= 1
@wp.kernel
def negative_indices(
    x: wp.array(dtype=float),
    m: wp.array2d(dtype=float),
    k: wp.array(dtype=int),
    out: wp.array(dtype=float),
    total: wp.array(dtype=float),
):
    i = wp.tid()
    j = k[i]
    v = wp.vec2(x[i], 2.0 * x[i])
    a = wp.mat22(x[i], 1.0, 0.5, x[i - 1])
    v[j] = v[j] * x[i - 1]
    out[i] = v[j] + a[j, -1] * m[j, j - 1] + a[j][0]
    wp.atomic_add(total, i - 2, x[i] * x[i - 2])
