# A table that is interpolated between two entries, at positions that several threads may share. The derivative by the
# entries is a custom gradient, which adds to the adjoint of the table.
import warp as wp


@wp.func
def interpolated(table: wp.array(dtype=float), cell: int, t: float):
    return table[cell] * (1.0 - t) + table[cell + 1] * t


@wp.func_grad(interpolated)
def interpolated_gradient(table: wp.array(dtype=float), cell: int, t: float, adj_ret: float):
    wp.adjoint[table][cell] += (1.0 - t) * adj_ret
    wp.adjoint[table][cell + 1] += t * adj_ret
    wp.adjoint[t] += (table[cell + 1] - table[cell]) * adj_ret


@wp.kernel
def interpolated_table(
    table: wp.array(dtype=float), cell: wp.array(dtype=int), t: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    value = interpolated(table, cell[i], t[i])
    # The derivative by the first entry has a second contribution, from a load outside the function.
    out[i] = value * value + table[0]
