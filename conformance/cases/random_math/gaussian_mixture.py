# Three weighted bells whose centres and widths are inputs too.
import warp as wp


@wp.kernel
def gaussian_mixture(
    x: wp.array(dtype=float), centre: wp.array(dtype=float), width: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    w = 0.5 + width[i] * width[i]
    d = x[i] - centre[i]
    near = wp.exp(-d * d / w)
    far = wp.exp(-0.25 * (d - 1.0) * (d - 1.0))
    out[i] = near + 0.5 * far + 0.25 * wp.exp(-wp.abs(d)) * w
