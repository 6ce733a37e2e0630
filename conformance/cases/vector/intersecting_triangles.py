# Tests whether two triangles intersect: apart, crossing, and in one plane; in both precisions.
import warp as wp


@wp.kernel
def intersecting_triangles(
    x: wp.array(dtype=wp.vec3),
    y: wp.array(dtype=wp.vec3d),
    out: wp.array(dtype=float),
    hits: wp.array(dtype=wp.vec4i),
):
    i = wp.tid()
    a = wp.vec3(0.0, 0.25, 0.125)
    b = wp.vec3(2.0, 0.125, 0.0)
    c = wp.vec3(0.125, 2.0, -0.25)
    p = x[i]
    crossing = wp.intersect_tri_tri(a, b, c, p, p + wp.vec3(0.1, 0.2, 1.0), p + wp.vec3(0.3, 0.0, -1.0))
    z = wp.vec3(0.0, 0.0, 0.0)
    e1 = wp.vec3(2.0, 0.0, 0.0)
    e2 = wp.vec3(0.0, 2.0, 0.0)
    flat = wp.vec3(p[0], p[1], 0.0)
    right = flat + wp.vec3(1.3, 0.4, 0.0)
    plane = wp.intersect_tri_tri(u0=flat, u1=right, u2=flat + wp.vec3(-0.3, 0.9, 0.0), v0=z, v1=e1, v2=e2)
    q = y[i]
    e = wp.vec3d(wp.float64(0.0), wp.float64(1.0), wp.float64(1.5))
    f = wp.vec3d(wp.float64(1.0), wp.float64(-1.0), wp.float64(0.5))
    o = wp.vec3d(wp.float64(0.1), wp.float64(0.2), wp.float64(0.3))
    precise = wp.intersect_tri_tri(o, e, f, q, q + e, q - f)
    d = wp.vec3(0.25, 0.25, -1.0)
    fixed = wp.intersect_tri_tri(a, b, c, d, d + wp.vec3(0.25, 0.5, 2.0), d + wp.vec3(0.0, 1.0, 0.5))
    hits[i] = wp.vec4i(crossing, plane, precise, fixed)
    out[i] = p[0] * float(1 + crossing + 2 * plane)
