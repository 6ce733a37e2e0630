# min and max of two vectors and of the components of one, abs and sign by components.
import warp as wp


@wp.kernel
def least_and_greatest(
    a: wp.array(dtype=wp.vec3),
    b: wp.array(dtype=wp.vec3),
    out: wp.array(dtype=wp.vec3),
    total: wp.array(dtype=float),
):
    i = wp.tid()
    low = wp.min(a[i], b[i])
    high = wp.max(a[i] * 0.5, wp.abs(b[i]))
    out[i] = wp.cw_mul(low, high) + wp.sign(a[i]) * 2.0
    total[i] = wp.max(low) * wp.min(high) + wp.max(a[i])
