# A custom gradient that adds to the adjoints of two arrays: through a row, to a component, with a minus sign, by
# atomics, in a loop over all elements, and only on one path. It is not the true derivative, but must be used: the loads
# of the function itself contribute nothing.
import warp as wp


@wp.func
def gathered(points: wp.array2d(dtype=wp.vec3), weights: wp.array(dtype=float), k: int, scale: float):
    return wp.dot(points[k, 0], points[k, 1]) * scale, weights[k] * scale


@wp.func_grad(gathered)
def gathered_gradient(
    points: wp.array2d(dtype=wp.vec3),
    weights: wp.array(dtype=float),
    k: int,
    scale: float,
    adj_product: float,
    adj_weight: float,
):
    row = points[k]
    wp.adjoint[row][0].x += 2.0 * scale * adj_product
    wp.adjoint[points][k, 1] -= row[0] * adj_product
    wp.adjoint[scale] += weights[k] * adj_weight + row[1].y * adj_product
    if scale > 0.5:
        return
    for j in range(weights.shape[0]):
        wp.atomic_add(wp.adjoint[weights], j, 0.25 * float(j + 1) * adj_weight)
    wp.atomic_sub(wp.adjoint[weights], k, 0.5 * scale * adj_product)


# custom gradients: trusted
@wp.kernel
def custom_gradient_of_arrays(
    points: wp.array2d(dtype=wp.vec3),
    weights: wp.array(dtype=float),
    index: wp.array(dtype=int),
    scale: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    product, weight = gathered(points, weights, index[i], scale[i])
    out[i] = product * 1.5 + weight * weight
