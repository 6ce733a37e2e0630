# Sums, differences and multiples of transforms, componentwise, and their interpolation.
import warp as wp


@wp.kernel
def sums_and_multiples(
    a: wp.array(dtype=wp.transform),
    b: wp.array(dtype=wp.transform),
    s: wp.array(dtype=float),
    out: wp.array(dtype=wp.transform),
):
    i = wp.tid()
    mixed = a[i] * s[i] + s[i] * b[i] - b[i] * 0.5
    out[i] = wp.lerp(mixed, a[i], 0.25 * s[i])
