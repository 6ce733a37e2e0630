# An index array indexed by another one, with bounds that comments state.
import warp as wp


# domain: 0 <= cell < 7
# domain: 0 <= node < 6
@wp.kernel
def index_of_index(
    x: wp.array(dtype=float),
    cell: wp.array(dtype=int),
    node: wp.array(dtype=int),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    out[i] = x[node[cell[i]]] * x[cell[i]] + x[node[i]]
