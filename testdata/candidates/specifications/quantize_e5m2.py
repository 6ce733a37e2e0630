import warp as wp


# domain: -60000.0 <= x <= 60000.0
@wp.kernel
def quantize_e5m2(x: wp.array(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    """Round to the nearest float with 5 bits of exponent and 2 of significand, with ties to even."""
    i = wp.tid()
    magnitude = wp.abs(float(x[i]))
    unit = float(1.52587890625e-05)
    while magnitude >= 8.0 * unit:
        unit = unit * 2.0
    rounded = wp.rint(magnitude / unit) * unit
    if float(x[i]) < 0.0:
        rounded = -rounded
    out[i] = wp.float16(rounded)
