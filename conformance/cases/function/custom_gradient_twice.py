# A custom gradient that adds to one adjoint twice, by += and by -=, returns early, and adds to the adjoint of one
# argument on one path only; it is not the true derivative, but must be used.
import warp as wp


@wp.func
def blend(x: float, y: float, n: int):
    return x * y + float(n)


@wp.func_grad(blend)
def blend_gradient(x: float, y: float, n: int, adj_ret: float):
    wp.adjoint[x] += 3.0 * y * adj_ret
    wp.adjoint[x] -= 0.5 * adj_ret
    if x > y:
        return
    wp.adjoint[y] += x * adj_ret
    wp.adjoint[x] += wp.cos(x) * adj_ret


# custom gradients: trusted
@wp.kernel
def custom_gradient_twice(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    # The same value twice: the contributions of both calls add up.
    a = x[i]
    out[i] = blend(a, y[i], i) * 2.0 + blend(a, a, 3) * y[i]
