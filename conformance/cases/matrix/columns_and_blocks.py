# Columns and blocks of a matrix read, replaced and increased; one column is chosen by an index of either sign.
import warp as wp


# domain: -3 <= column < 3
@wp.kernel
def columns_and_blocks(
    x: wp.array(dtype=wp.mat33),
    v: wp.array(dtype=wp.vec3),
    column: wp.array(dtype=int),
    out: wp.array(dtype=wp.mat33),
    block: wp.array(dtype=wp.mat22),
):
    i = wp.tid()
    m = x[i]
    first = m[:, 0]
    m[:, column[i]] = wp.cross(first, v[i])
    m[1, :2] += m[2, 1:]
    m[::-2, -1] *= 0.5
    m[0:2, 1:3] = m[1:, :-1] * m[::2, ::2]
    out[i] = m
    block[i] = m[::2, ::-2] + x[i][:2, 1:]
