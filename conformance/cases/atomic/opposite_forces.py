# A spring between two points adds a force to one and subtracts it from the other.
import warp as wp


# domain: 0 <= first <= 6
# domain: 7 <= second <= 12
@wp.kernel
def opposite_forces(
    x: wp.array(dtype=wp.vec2),
    first: wp.array(dtype=int),
    second: wp.array(dtype=int),
    stiffness: float,
    force: wp.array(dtype=wp.vec2),
):
    i = wp.tid()
    a = first[i]
    b = second[i]
    d = x[b] - x[a]
    f = d * (stiffness * (wp.length_sq(d) - 0.5))
    wp.atomic_add(force, a, f)
    wp.atomic_sub(force, b, f)
