# Pressure and viscous forces between particles nearby, as in smoothed particle hydrodynamics.
import warp as wp


@wp.func
def pressure_force(between: wp.vec3, pressure: float, density: float, radius: float):
    distance = wp.length(between)
    if distance < radius:
        rest = radius - distance
        return -between / distance * (pressure / (2.0 * density) * rest * rest)
    return wp.vec3()


# launch: (grid_order.shape[0])
# domain: 0.5 <= radius <= 2
# domain: 0.5 <= rho <= 2
# domain: 0.5 <= stiffness <= 2
@wp.kernel
def grid_pressure(
    grid: wp.uint64,
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    rho: wp.array(dtype=float),
    stiffness: float,
    radius: float,
    force: wp.array(dtype=wp.vec3),
):
    i = wp.hash_grid_point_id(grid, wp.tid())
    own_pressure = stiffness * (rho[i] - 1.0)
    sum = wp.vec3()
    neighbors = wp.hash_grid_query(grid, x[i], radius)
    for j in neighbors:
        if j != i:
            pressure = own_pressure + stiffness * (rho[j] - 1.0)
            sum += pressure_force(x[j] - x[i], pressure, rho[j], radius)
            away = radius - wp.length(x[j] - x[i])
            if away > 0.0:
                sum += (v[j] - v[i]) * (away / rho[j])
    force[i] = sum / rho[i]
