# where and conditional expressions between matrices, products and quotients by elements.
import warp as wp


# domain: 0.5 <= b <= 2
@wp.kernel
def chosen_matrices(
    a: wp.array(dtype=wp.mat22),
    b: wp.array(dtype=wp.mat22),
    out: wp.array(dtype=wp.mat22),
):
    i = wp.tid()
    near = wp.where(wp.trace(a[i]) < 0.0, a[i], wp.cw_mul(a[i], b[i]))
    out[i] = wp.cw_div(near, b[i]) + (a[i] if a[i][0, 1] > 0.0 else -b[i] * 0.5)
