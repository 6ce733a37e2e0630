# A product whose length is known at run time only: its gradient needs every other factor.
import warp as wp


# domain: 0 <= n <= 12
@wp.kernel
def dynamic_product(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    p = float(1.5)
    for j in range(n):
        p *= x[j]
    out[i] = p * float(i + 1)
