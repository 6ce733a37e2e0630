# Nested calls with a custom derivative: a root whose derivative stays finite at zero, called by a function, called by
# another, on both sides of the point where the two derivatives differ.
import warp as wp


@wp.func
def safe_root(x: float):
    return wp.sqrt(wp.max(x, 0.0))


@wp.func_grad(safe_root)
def safe_root_gradient(x: float, adj_ret: float):
    if x > 0.25:
        wp.adjoint[x] += adj_ret / (2.0 * wp.sqrt(x))
    else:
        wp.adjoint[x] += adj_ret


@wp.func
def distance(x: float, y: float):
    return safe_root(x * x + y * y) + 0.5 * x


@wp.func
def energy(x: float, y: float):
    return distance(x, y) * distance(y, 0.5) + safe_root(distance(x, x))


# custom gradients: trusted
@wp.kernel
def custom_derivative_nested(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = energy(x[i], y[i]) * 1.5
