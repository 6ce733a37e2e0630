# A function that leaves a loop by returning, with a value that the iterations have computed.
import warp as wp


@wp.func
def until_large(x: float, n: int):
    s = x * 0.5 + 0.25
    for j in range(n):
        s = s * 1.25 + x * x
        if s > 2.0:
            return s * x
    return s - 1.0


# domain: 0 <= n <= 9
@wp.kernel
def return_inside_loop(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = until_large(x[i], n) + x[i]
