# A custom gradient of a function of a vector with two results, one unused, called in a loop with carried state: parts of
# the vector's adjoint are added to by component.
import warp as wp


@wp.func
def turned(v: wp.vec2, angle: float):
    c = wp.cos(angle)
    s = wp.sin(angle)
    return wp.vec2(c * v[0] - s * v[1], s * v[0] + c * v[1]), wp.length(v)


@wp.func_grad(turned)
def turned_gradient(v: wp.vec2, angle: float, adj_turned: wp.vec2, adj_length: float):
    c = wp.cos(angle)
    s = wp.sin(angle)
    wp.adjoint[v][0] += c * adj_turned[0] + s * adj_turned[1]
    wp.adjoint[v].y += c * adj_turned[1] - s * adj_turned[0]
    # Deliberately not the true derivative: it treats the angle as constant, the length as growing with the first
    # component, and the turn with the square of the second one.
    wp.adjoint[v] += wp.vec2(adj_length, 0.25 * v[1] * adj_turned[0])


# custom gradients: trusted
@wp.kernel
def custom_gradient_in_loop(
    x: wp.array(dtype=wp.vec2), angle: wp.array(dtype=float), n: int, out: wp.array(dtype=wp.vec2)
):
    i = wp.tid()
    v = x[i]
    for _j in range(n):
        t, _length = turned(v * 0.9, angle[i])
        v = t + x[i]
    out[i] = v
