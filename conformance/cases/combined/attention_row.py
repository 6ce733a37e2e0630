# One row of attention: scores, a stable softmax and a weighted sum of values, in four loops; the greatest score is
# kept.
import warp as wp


@wp.kernel
def attention_row(
    q: wp.array2d(dtype=float),
    k: wp.array2d(dtype=float),
    v: wp.array2d(dtype=float),
    scores: wp.array2d(dtype=float),
    greatest: wp.array(dtype=float),
    out: wp.array2d(dtype=float),
):
    i = wp.tid()
    n = k.shape[0]
    d = k.shape[1]
    top = float(-1000.0)
    for j in range(n):
        s = float(0.0)
        for c in range(d):
            s += q[i, c] * k[j, c]
        s = s * 0.5
        scores[i, j] = s
        top = wp.max(top, s)
    greatest[i] = top
    total = float(0.0)
    for j in range(n):
        total += wp.exp(scores[i, j] - top)
    for c in range(d):
        a = float(0.0)
        for j in range(n):
            a += wp.exp(scores[i, j] - top) / total * v[j, c]
        out[i, c] = a
