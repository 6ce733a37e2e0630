import warp as wp


# domain: 0 <= target <= 1
# domain: 0 <= alpha <= 1
@wp.kernel
def focal(x: wp.array(dtype=float), target: wp.array(dtype=int), alpha: float, loss: wp.array(dtype=float)):
    i = wp.tid()
    z = x[i]
    w = alpha
    if target[i] == 0:
        z = -z
        w = 1.0 - alpha
    p = 1.0 / (1.0 + wp.exp(-z))
    ce = wp.max(-z, 0.0) + wp.log(1.0 + wp.exp(-wp.abs(z)))
    loss[i] = w * (1.0 - p) * (1.0 - p) * ce
