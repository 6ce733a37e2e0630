# Exchange and compare-and-swap of a thread-private element: deterministic results, no gradient.
import warp as wp


# domain: 0 <= ticket <= 3
# domain: 0 <= owner <= 3
@wp.kernel
def exchange_own_cell(
    ticket: wp.array(dtype=int), owner: wp.array(dtype=int), request: wp.array(dtype=int), seen: wp.array(dtype=int)
):
    i = wp.tid()
    held = wp.atomic_exch(ticket, i, request[i] % 7)
    previous = wp.atomic_cas(owner, i, held, i + 10)
    seen[i] = held * 100 + previous
