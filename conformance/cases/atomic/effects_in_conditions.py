# Atomics inside `and`, `or`, conditional expressions and the condition of a loop run only where Python evaluates them.
import warp as wp


# domain: 0 <= visits <= 2
@wp.kernel
def effects_in_conditions(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    visits: wp.array(dtype=int),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = x[i]
    if x[i] > 0.0 and wp.atomic_add(visits, i, 1) < 2:
        s = s * y[i]
    if x[i] > 0.5 or wp.atomic_add(visits, i, 2) < 2:
        s += y[i]
    steps = int(0)
    while steps < 3 and wp.atomic_add(visits, i, 1) < 5:
        s = s * 0.5 + x[i] * y[i]
        steps += 1
    out[i] = s + (float(wp.atomic_add(visits, i, 1)) * x[i] if y[i] > 0.25 else y[i])
