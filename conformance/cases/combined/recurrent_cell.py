# A recurrent cell with gates over a sequence, whose state is read by an output layer.
import warp as wp


# domain: 0 <= n <= 7
@wp.kernel
def recurrent_cell(
    x: wp.array2d(dtype=float), w: wp.array(dtype=float), bias: float, n: int, out: wp.array(dtype=float)
):
    i = wp.tid()
    h = float(0.125)
    c = float(0.25)
    for t in range(n):
        z = x[i, t]
        forget = 1.0 / (1.0 + wp.exp(-(w[0] * z + w[1] * h + 1.0)))
        update = 1.0 / (1.0 + wp.exp(-(w[2] * z + w[3] * h)))
        candidate = wp.tanh(w[4] * z + w[5] * h + bias)
        c = forget * c + update * candidate
        h = wp.tanh(c) * update
    out[i] = h * w[6] + c * bias
