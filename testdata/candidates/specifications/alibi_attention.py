import warp as wp


# launch: (q.shape[0], q.shape[1])
# domain: 1 <= window <= 8
@wp.kernel
def alibi(q: wp.array3d(dtype=float), k: wp.array3d(dtype=float), v: wp.array3d(dtype=float), slope: wp.array(dtype=float), window: int, out: wp.array3d(dtype=float)):
    h, i = wp.tid()
    first = wp.max(0, i - window + 1)
    scale = 1.0 / wp.sqrt(float(q.shape[2]))
    m = float(-1.0e30)
    for j in range(first, i + 1):
        s = float(0.0)
        for d in range(q.shape[2]):
            s += q[h, i, d] * k[h, j, d]
        m = wp.max(m, s * scale - slope[h] * float(i - j))
    total = float(0.0)
    for j in range(first, i + 1):
        s = float(0.0)
        for d in range(q.shape[2]):
            s += q[h, i, d] * k[h, j, d]
        total += wp.exp(s * scale - slope[h] * float(i - j) - m)
    for c in range(v.shape[2]):
        r = float(0.0)
        for j in range(first, i + 1):
            s = float(0.0)
            for d in range(q.shape[2]):
                s += q[h, i, d] * k[h, j, d]
            r += wp.exp(s * scale - slope[h] * float(i - j) - m) / total * v[h, j, c]
        out[h, i, c] = r
