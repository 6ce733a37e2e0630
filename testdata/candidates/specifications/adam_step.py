import warp as wp


# domain: 0 <= v <= 1
# domain: 1 <= step <= 100
@wp.kernel
def adam_step(
    g: wp.array(dtype=float),
    m: wp.array(dtype=float),
    v: wp.array(dtype=float),
    p: wp.array(dtype=float),
    lr: float,
    step: int,
):
    i = wp.tid()
    mi = 0.9 * m[i] + 0.1 * g[i]
    vi = 0.999 * v[i] + 0.001 * g[i] * g[i]
    m[i] = mi
    v[i] = vi
    mh = mi / (1.0 - wp.pow(0.9, float(step)))
    vh = vi / (1.0 - wp.pow(0.999, float(step)))
    p[i] = p[i] - lr * mh / (wp.sqrt(vh) + 1.0e-8)
