# Products and quotients by components, quotients by a scalar, a vector of one repeated scalar.
import warp as wp


# domain: 0.5 <= b <= 2
@wp.kernel
def componentwise(
    a: wp.array(dtype=wp.vec4), b: wp.array(dtype=wp.vec4), s: wp.array(dtype=float), out: wp.array(dtype=wp.vec4)
):
    i = wp.tid()
    t = wp.cw_mul(a[i], a[i]) - wp.cw_div(a[i], b[i])
    out[i] = t / (s[i] * s[i] + 0.5) + wp.vec4(s[i]) - -a[i]
