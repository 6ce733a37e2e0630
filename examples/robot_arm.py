"""A planar robot arm: forward kinematics over its joints, and how far its hand is from a target."""

import numpy as np
import warp as wp


@wp.kernel
def hand_positions(
    angles: wp.array2d(dtype=float),
    lengths: wp.array(dtype=float),
    hands: wp.array(dtype=wp.vec2),
):
    arm = wp.tid()
    heading = float(0.0)
    hand = wp.vec2(0.0, 0.0)
    for joint in range(lengths.shape[0]):
        heading += angles[arm, joint]
        hand += wp.vec2(wp.cos(heading), wp.sin(heading)) * lengths[joint]
    hands[arm] = hand


@wp.kernel
def reaching_cost(
    angles: wp.array2d(dtype=float),
    hands: wp.array(dtype=wp.vec2),
    targets: wp.array(dtype=wp.vec2),
    effort_weight: float,
    costs: wp.array(dtype=float),
):
    """Squared distance, smooth beyond one unit, and a price for bent joints."""
    arm = wp.tid()
    miss = wp.length_sq(hands[arm] - targets[arm])
    cost = miss if miss < 1.0 else 2.0 * wp.sqrt(miss) - 1.0
    joint = int(0)
    while joint < angles.shape[1]:
        bend = angles[arm, joint]
        cost += effort_weight * bend * bend
        joint += 1
    costs[arm] = cost


if __name__ == "__main__":
    arms, joints = 16, 3
    rng = np.random.default_rng(3)
    angles = wp.array(rng.uniform(-1.0, 1.0, (arms, joints)), dtype=float)
    lengths = wp.array([1.0, 0.8, 0.5], dtype=float)
    targets = wp.array(rng.uniform(-1.5, 1.5, (arms, 2)), dtype=wp.vec2)
    hands, costs = wp.zeros(arms, dtype=wp.vec2), wp.zeros(arms, dtype=float)
    wp.launch(hand_positions, dim=arms, inputs=[angles, lengths, hands])
    wp.launch(reaching_cost, dim=arms, inputs=[angles, hands, targets, 0.05, costs])
    print("mean cost", costs.numpy().mean())
