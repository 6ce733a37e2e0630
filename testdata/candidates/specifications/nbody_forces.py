import warp as wp


# launch: (p.shape[0])
@wp.kernel
def nbody_forces(p: wp.array2d(dtype=float), f: wp.array2d(dtype=float)):
    i = wp.tid()
    fx = float(0.0)
    fy = float(0.0)
    fz = float(0.0)
    for j in range(p.shape[0]):
        dx = p[j, 0] - p[i, 0]
        dy = p[j, 1] - p[i, 1]
        dz = p[j, 2] - p[i, 2]
        r2 = dx * dx + dy * dy + dz * dz + 0.01
        w = p[j, 3] / (r2 * wp.sqrt(r2))
        fx += w * dx
        fy += w * dy
        fz += w * dz
    f[i, 0] = fx
    f[i, 1] = fy
    f[i, 2] = fz
