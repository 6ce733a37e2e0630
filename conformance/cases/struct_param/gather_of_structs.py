# Structs gathered by an index array with duplicates: their gradients add up field by field.
import warp as wp


@wp.struct
class Site:
    charge: float
    position: wp.vec3

# domain: 0 <= first <= 5
# domain: 0 <= second <= 5
@wp.kernel
def gather_of_structs(
    sites: wp.array(dtype=Site), first: wp.array(dtype=int), second: wp.array(dtype=int), out: wp.array(dtype=float)
):
    i = wp.tid()
    a = sites[first[i]]
    b = sites[second[i]]
    d = a.position - b.position
    out[i] = a.charge * b.charge / (0.5 + wp.length_sq(d)) + a.charge
