# Fields read straight out of the array, one of them twice and a component of a vector.
import warp as wp


@wp.struct
class Node:
    position: wp.vec2
    weight: float

@wp.kernel
def fields_read_in_place(nodes: wp.array(dtype=Node), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = nodes[i].weight * nodes[i].weight * nodes[i].position[1] + nodes[i + 1].position[0]
