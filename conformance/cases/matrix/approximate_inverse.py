# wp.inverse_approx of matrices of each size; on the CPU it is the ordinary inverse.
import warp as wp


@wp.kernel
def approximate_inverse(
    x: wp.array(dtype=float),
    two: wp.array(dtype=wp.mat22),
    three: wp.array(dtype=wp.mat33),
    four: wp.array(dtype=wp.mat44),
):
    i = wp.tid()
    t = wp.sin(x[i])
    two[i] = wp.inverse_approx(wp.mat22(2.0, t, -t, 3.0))
    three[i] = wp.inverse_approx(wp.mat33(2.0, t, 0.0, -t, 3.0, 0.5, 0.0, t, 2.5))
    four[i] = wp.inverse_approx(
        wp.mat44(3.0, t, 0.0, 0.0, t, 2.0, 0.5, 0.0, 0.0, -0.5, 2.5, t, 0.25, 0.0, t, 4.0)
    )
