# The length of every inner loop comes from an array, including zero.
import warp as wp


# domain: 0 <= count <= 5
# domain: 0 <= n <= 6
@wp.kernel
def inner_length_from_array(
    count: wp.array(dtype=int), w: wp.array2d(dtype=float), x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)
):
    i = wp.tid()
    s = x[i] - 0.5
    for j in range(n):
        t = float(0.25)
        for k in range(count[j]):
            t = t * x[i] * 0.5 + w[j, k]
        s = wp.sin(s + t)
    out[i] = s
