# The negative of a scalar zero is a positive zero, as 0 - x is; a vector's components and constants change their signs.
import warp as wp


# domain: 0 <= k <= 2
@wp.kernel
def negated_zero(k: wp.array(dtype=int), x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    z = float(k[i])
    v = -wp.vec2(z, 1.0)
    scalar = wp.atan2(-z, -1.0)
    component = wp.atan2(v[0], -1.0)
    constant = wp.atan2(-0.0 * (1.0 + z), -1.0)
    out[i] = x[i] * (scalar + 10.0 * component + 100.0 * constant)
