# A struct from an array is changed in a variable and stored into another array.
import warp as wp


@wp.struct
class State:
    position: wp.vec3
    speed: float

@wp.kernel
def struct_copied_and_changed(before: wp.array(dtype=State), dt: float, after: wp.array(dtype=State)):
    i = wp.tid()
    s = before[i]
    s.speed = s.speed * 0.75 + dt
    s.position = s.position + wp.vec3(s.speed, dt, 0.5) * dt
    s.position[2] = s.position[0] * s.speed
    after[i] = s
