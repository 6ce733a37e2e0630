import warp as wp


@wp.kernel
def quantize_e4m3(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    """Round to the nearest float with 4 bits of exponent and 3 of significand, at most 448, with ties to even."""
    i = wp.tid()
    magnitude = wp.min(wp.abs(x[i]), 448.0)
    unit = float(0.001953125)
    while magnitude >= 16.0 * unit:
        unit = unit * 2.0
    rounded = wp.rint(magnitude / unit) * unit
    if x[i] < 0.0:
        rounded = -rounded
    out[i] = rounded
