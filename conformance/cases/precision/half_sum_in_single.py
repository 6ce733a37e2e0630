# A sum of many values in f16, accumulated in f32.
import warp as wp


# domain: 0 <= n <= 12
@wp.kernel
def half_sum_in_single(x: wp.array2d(dtype=wp.float16), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = float(0.25)
    for j in range(n):
        s += float(x[i, j]) * float(x[i, j])
    out[i] = s
