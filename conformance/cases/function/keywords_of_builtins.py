# Arguments of Warp's functions by name, in an order that is neither that of the parameters nor alphabetical.
import warp as wp


# domain: -2 <= x <= 2
@wp.kernel
def keywords_of_builtins(
    x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float), rotated: wp.array(dtype=wp.vec3)
):
    i = wp.tid()
    limited = wp.clamp(low=-0.5, x=x[i], high=0.75)
    step = wp.smoothstep(x=y[i], b=3.0, a=-3.0)
    out[i] = limited * wp.lerp(t=step, b=2.0, a=y[i]) + wp.pow(y=2.0, x=y[i])
    rotated[i] = wp.quat_rotate(vec=wp.vec3(1.0, 0.0, 2.0), quat=wp.quat(w=x[i], z=0.5 * y[i], x=0.25, y=y[i]))
