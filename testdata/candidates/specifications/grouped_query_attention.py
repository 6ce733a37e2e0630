import warp as wp


@wp.kernel
def grouped_query_attention(
    q: wp.array2d(dtype=float), k: wp.array3d(dtype=float), v: wp.array3d(dtype=float), out: wp.array2d(dtype=float)
):
    h, c = wp.tid()
    group = h * k.shape[0] // q.shape[0]
    scale = 1.0 / wp.sqrt(float(q.shape[1]))
    m = float(-1.0e30)
    for t in range(k.shape[1]):
        s = float(0.0)
        for d in range(q.shape[1]):
            s += q[h, d] * k[group, t, d]
        m = wp.max(m, s * scale)
    total = float(0.0)
    result = float(0.0)
    for t in range(k.shape[1]):
        s = float(0.0)
        for d in range(q.shape[1]):
            s += q[h, d] * k[group, t, d]
        e = wp.exp(s * scale - m)
        total += e
        result += e * v[group, t, c]
    out[h, c] = result / total
