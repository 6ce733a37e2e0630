# An output is written first and read afterwards: its initial content must not matter.
import warp as wp


@wp.kernel
def written_then_read(x: wp.array(dtype=float), out: wp.array(dtype=float), square: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.sin(x[i]) + 0.5 * x[i]
    square[i] = out[i] * out[i] * x[i]
