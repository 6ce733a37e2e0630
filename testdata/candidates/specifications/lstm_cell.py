import warp as wp


@wp.func
def sg(x: float) -> float:
    return 1.0 / (1.0 + wp.exp(-x))


@wp.kernel
def lstm(gates: wp.array2d(dtype=float), c0: wp.array2d(dtype=float), h: wp.array2d(dtype=float), c1: wp.array2d(dtype=float)):
    b, j = wp.tid()
    n = c0.shape[1]
    i = sg(gates[b, j])
    f = sg(gates[b, n + j])
    g = wp.tanh(gates[b, 2 * n + j])
    o = sg(gates[b, 3 * n + j])
    c = f * c0[b, j] + i * g
    c1[b, j] = c
    h[b, j] = o * wp.tanh(c)
