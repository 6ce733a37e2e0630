# A branch that does nothing, and a loop whose body only counts.
import warp as wp


# domain: 0 <= n <= 9
@wp.kernel
def pass_and_empty_arms(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    s = x[i]
    if x[i] > 0.5:
        pass
    else:
        s = s * s - 1.0
    count = int(0)
    for j in range(n):
        count += 2
    out[i] = s * float(count) + x[i]
