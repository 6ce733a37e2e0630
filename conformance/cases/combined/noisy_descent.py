# Gradient descent with random noise on a function of two variables, and the best value seen on the way.
import warp as wp


# domain: 0 <= steps <= 8
@wp.kernel
def noisy_descent(
    x: wp.array(dtype=float), y: wp.array(dtype=float), rate: float, steps: int, out: wp.array(dtype=float)
):
    i = wp.tid()
    state = wp.rand_init(7, i)
    a = x[i]
    b = y[i]
    best = a * a + 0.5 * b * b + 0.25 * a * b
    for s in range(steps):
        ga = 2.0 * a + 0.25 * b
        gb = b + 0.25 * a
        a = a - 0.1 * rate * ga + 0.01 * wp.randn(state)
        b = b - 0.1 * rate * gb + 0.01 * wp.randn(state)
        value = a * a + 0.5 * b * b + 0.25 * a * b
        best = wp.min(best, value)
    out[i] = best + 0.125 * a * b
