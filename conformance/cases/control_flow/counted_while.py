# A while loop that counts: the state is used after the counter has advanced.
import warp as wp


# domain: 0 <= n <= 80
@wp.kernel
def counted_while(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = float(0.5)
    k = int(0)
    while k < n:
        s += x[k] * x[k]
        k += 1
    out[i] = s * y[i] + float(k)
