# A polynomial by Horner's rule, in the argument and all coefficients.
import warp as wp


# domain: -0.9 <= x <= 0.9
# domain: 0 <= n <= 10
@wp.kernel
def horner(x: wp.array(dtype=float), c: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    p = float(0.25)
    for j in range(n):
        p = p * x[i] + c[j]
    out[i] = p
