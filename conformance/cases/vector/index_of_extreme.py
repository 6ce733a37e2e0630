# The index of the least and greatest component: it carries no derivative, the component that it finds does.
import warp as wp


@wp.kernel
def index_of_extreme(
    x: wp.array(dtype=wp.vec4),
    s: wp.array(dtype=float),
    out: wp.array(dtype=float),
    found: wp.array(dtype=int),
):
    i = wp.tid()
    v = x[i] * s[i]
    least = int(wp.argmin(v))
    most = int(wp.argmax(v))
    found[i] = 10 * least + most
    out[i] = v[most] * v[most] - v[least] * s[i]
