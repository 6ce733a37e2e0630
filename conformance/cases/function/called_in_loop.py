# A function called in every trip of a loop, whose two results are carried to the next trip.
import warp as wp


@wp.func
def turned(a: float, b: float, angle: float):
    c = wp.cos(angle)
    s = wp.sin(angle)
    return a * c - b * s, a * s + b * c


# domain: 0 <= n <= 12
@wp.kernel
def called_in_loop(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int, out: wp.array(dtype=float)):
    i = wp.tid()
    a = x[i]
    b = float(0.5)
    for j in range(n):
        p, q = turned(a, b, y[i] * 0.5 + float(j) * 0.1)
        a = p * 0.9
        b = q + 0.125 * a
    out[i] = a * b + a
