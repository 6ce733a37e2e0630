# Each thread changes one component of a vector, which leaves the others to other threads.
import warp as wp


# launch: (a.shape[0], 4)
@wp.kernel
def stored_components(
    x: wp.array(dtype=wp.vec3), a: wp.array(dtype=wp.vec3), b: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)
):
    i, c = wp.tid()
    if c < 3:
        a[i][c] = a[i][c] * x[i][c]
        b[i][c] += wp.sin(x[i][c])
        out[i][c] = x[i][2 - c] - x[i][c]
