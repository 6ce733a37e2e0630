# A struct in an array is read, changed and stored back.
import warp as wp


@wp.struct
class Oscillator:
    angle: float
    rate: float

@wp.kernel
def struct_updated_in_place(oscillators: wp.array(dtype=Oscillator), stiffness: float, dt: float):
    i = wp.tid()
    o = oscillators[i]
    o.rate = o.rate - stiffness * wp.sin(o.angle) * dt
    o.angle = o.angle + o.rate * dt
    oscillators[i] = o
