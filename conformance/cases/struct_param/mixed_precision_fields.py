# Fields of f32, f64, small integers and bool side by side, with the gaps that their alignment leaves.
import warp as wp


@wp.struct
class Record:
    flag: bool
    fine: wp.float64
    count: wp.int16
    coarse: float

# domain: 0 <= r <= 1
@wp.kernel
def mixed_precision_fields(r: wp.array(dtype=Record), x: wp.array(dtype=float), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    v = r[i].fine * wp.float64(x[i]) + wp.float64(r[i].coarse)
    if r[i].flag:
        v = v * v
    out[i] = v + wp.float64(float(int(r[i].count) + i) * x[i])
