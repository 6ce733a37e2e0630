import warp as wp


@wp.func
def iou(box: wp.array2d(dtype=float), i: int, j: int) -> float:
    w = wp.min(box[i, 2], box[j, 2]) - wp.max(box[i, 0], box[j, 0])
    h = wp.min(box[i, 3], box[j, 3]) - wp.max(box[i, 1], box[j, 1])
    inter = wp.max(w, 0.0) * wp.max(h, 0.0)
    a = (box[i, 2] - box[i, 0]) * (box[i, 3] - box[i, 1])
    b = (box[j, 2] - box[j, 0]) * (box[j, 3] - box[j, 1])
    return inter / (a + b - inter + 1.0e-6)


# launch: (1)
# domain: 0.0 <= box <= 1.0
# domain: 0.1 <= threshold <= 0.9
@wp.kernel
def nms(box: wp.array2d(dtype=float), threshold: float, keep: wp.array(dtype=int)):
    """Greedy suppression of boxes (x0, y0, x1, y1) in their order."""
    t = wp.tid()
    for i in range(keep.shape[0]):
        keep[i] = 1
        for j in range(i):
            if keep[j] == 1 and box[i, 2] > box[i, 0]:
                if iou(box, i, j) > threshold:
                    keep[i] = 0
