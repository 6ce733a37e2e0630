# Threads that share elements of an array of structs add to their fields: a scalar, a component, a row of a matrix and a
# nested vector. Warp 1.19 updates each field atomically.
import warp as wp


@wp.struct
class Motion:
    linear: wp.vec3
    angular: wp.vec3


@wp.struct
class Bin:
    mass: float
    moment: wp.vec2
    count: int
    mask: wp.uint32
    frame: wp.mat22
    motion: Motion


# domain: 0 <= keys <= 3
@wp.kernel
def fields_updated_atomically(
    keys: wp.array(dtype=int), x: wp.array(dtype=float), v: wp.array(dtype=wp.vec3), bins: wp.array(dtype=Bin)
):
    i = wp.tid()
    k = keys[i]
    bins[k].mass += x[i]
    bins[k].moment[1] -= x[i] * x[i]
    bins[k].count += 1
    bins[k].mask |= wp.uint32(1) << wp.uint32(k)
    bins[k].frame[1] += wp.vec2(x[i], 2.0) * x[i]
    bins[k].motion.linear += x[i] * v[i]
    bins[k].motion.angular -= wp.cross(v[i], wp.vec3(x[i], 2.0, 3.0))
