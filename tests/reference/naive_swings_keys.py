"""Slow, obvious twins of the search for keys around swings (``core/swing_keys.cpp``, ``core/key_adjustment.cpp``)."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise, rotate, slerp

ROUNDING = 1e-11


class Node(NamedTuple):
    frame: int
    rotation: Floats
    is_fixed: bool = False


class GoodSwing(NamedTuple):
    """A swing that may be part of the chain."""

    start: int
    end: int
    first: Floats
    last: Floats


def fewest_on_curve(rotations: Floats, tolerance: float) -> int:
    """Return the minimum number of keys with the rotations of their frames, including the first and last frame, by
    trying all."""
    n = len(rotations)
    fewest = [1] + [n] * (n - 1)
    for j in range(1, n):
        for i in range(j):
            if fewest[i] + 1 < fewest[j]:
                fraction = (np.arange(i, j + 1) - i)[:, None] / (j - i)
                interpolated = slerp(rotations[i], rotations[j], fraction)
                if angle_between(interpolated, rotations[i : j + 1]).max() <= tolerance:
                    fewest[j] = fewest[i] + 1
    return fewest[-1]


def build_chain(
    rotations: Floats, tolerance: float, swings: list[GoodSwing], swing_cost: float, max_gap: int
) -> list[Node]:
    """Return the cheapest chain of keys and some of the swings, by trying every choice of swings; keys are adjusted."""
    tolerance = max(0.0, tolerance - ROUNDING)
    best: tuple[float, list[Node]] | None = None
    for count in range(len(swings) + 1):
        for subset in combinations(swings, count):
            nodes = _keys_around(rotations, tolerance, list(subset), max_gap)
            cost = sum(not node.is_fixed for node in nodes) + swing_cost * count
            if best is None or cost < best[0]:
                best = cost, nodes
    assert best is not None
    return adjust_keys(rotations, tolerance, best[1])


def chain_cost(nodes: list[Node], swing_cost: float) -> float:
    """Return the cost of a chain, in keys."""
    return sum(swing_cost / 2 if node.is_fixed else 1.0 for node in nodes)


def _keys_around(rotations: Floats, tolerance: float, swings: list[GoodSwing], max_gap: int) -> list[Node]:
    """Return keys before, between and after given swings, each as far as possible from the one before."""
    last_frame = len(rotations) - 1
    nodes: list[Node] = []
    first_targets = [np.zeros(3)]
    centre = np.zeros(3)
    while len(first_targets) <= last_frame:
        more = [*first_targets, _vector_between(rotations[0], rotations[len(first_targets)])]
        common = _common_vector(more, [1.0] * len(more), tolerance, centre)
        if common is None:
            break
        first_targets, centre = more, common
    frame = len(first_targets) - 1
    if swings and swings[0].start <= frame:
        straight = _vector_between(rotations[0], swings[0].first)
        if any(np.linalg.norm(straight - target) > tolerance for target in first_targets[: swings[0].start]):
            nodes.append(Node(swings[0].start - 1, _rotate(rotations[0], centre)))
    else:
        nodes.append(Node(frame, _rotate(rotations[0], centre)))
        _extend_chain(rotations, tolerance, nodes, swings[0] if swings else None, max_gap)
    for k, swing in enumerate(swings):
        nodes += [Node(swing.start, swing.first, True), Node(swing.end, swing.last, True)]
        _extend_chain(rotations, tolerance, nodes, swings[k + 1] if k + 1 < len(swings) else None, max_gap)
    return nodes


def _extend_chain(rotations: Floats, tolerance: float, nodes: list[Node], to: GoodSwing | None, max_gap: int) -> None:
    """Append keys after the last node, up to the start of a swing or the end of the clip."""
    last_frame = len(rotations) - 1
    while True:
        frame, rotation, _ = nodes[-1]
        remaining = rotations[frame + 1 :]
        if to is None and all(np.linalg.norm(_vector_between(rotation, other)) <= tolerance for other in remaining):
            return
        targets: list[Floats] = []
        speed = np.zeros(3)
        for t in range(frame + 1, min(last_frame, frame + max_gap) + 1):
            target = _vector_between(rotation, rotations[t])
            near_half_turn = np.linalg.norm(target) + tolerance > np.pi - 0.01
            if targets and near_half_turn:
                break
            more = [*targets, target]
            common = _common_vector(more, list(range(1, len(more) + 1)), tolerance, speed)
            if common is None and targets:
                break
            targets, speed = more, speed if common is None else common
            if near_half_turn or common is None:
                break
        reach = frame + len(targets)

        def key_on_span(at: int, reach: int = reach, node: Node = nodes[-1], speed: Floats = speed) -> Node:
            if reach == node.frame + 1:
                return Node(at, rotations[at])
            return Node(at, _rotate(node.rotation, (at - node.frame) * speed))

        if to is not None and to.start <= reach:
            straight = _vector_between(rotation, to.first) / (to.start - frame)
            between = range(to.start - frame - 1)
            if any(np.linalg.norm((i + 1) * straight - targets[i]) > tolerance for i in between):
                nodes.append(key_on_span(to.start - 1))
            return
        nodes.append(key_on_span(reach))
        if reach == last_frame:
            return


def _common_vector(targets: list[Floats], factors: list[float], tolerance: float, vector: Floats) -> Floats | None:
    """Return a rotation vector with multiples by ``factors`` within the tolerance of all targets; None if none is
    found. ``vector`` fits all targets except the last. It is repeatedly moved into the ball around the target from
    which it is farthest."""
    balls = list(zip(targets, factors, strict=True))

    def move_into_ball(vector: Floats, target: Floats, factor: float) -> Floats:
        difference = factor * vector - target
        return (target + 0.99 * tolerance / np.linalg.norm(difference) * difference) / factor

    target, factor = balls[-1]
    if np.linalg.norm(factor * vector - target) <= tolerance:
        return vector
    vector = move_into_ball(vector, target, factor)
    for _ in range(24):
        distances = [np.linalg.norm(factor * vector - target) for target, factor in balls]
        farthest = int(np.argmax(distances))
        if distances[farthest] <= tolerance:
            return vector
        vector = move_into_ball(vector, *balls[farthest])
    return None


def adjust_keys(rotations: Floats, tolerance: float, nodes: list[Node]) -> list[Node]:
    """Return the keys, moved one after another towards the least-squares optimum for the frames that it influences."""
    nodes = list(nodes)
    for _ in range(3):
        for k, node in enumerate(nodes):
            if node.is_fixed:
                continue
            frames, weights = _interpolation_weights(nodes, k, len(rotations))
            differences = multiply(rotations[frames], conjugate(sample_chain(nodes, frames)))
            sines = np.where(differences[:, :1] < 0, -differences[:, 1:], differences[:, 1:])
            move = (2 * weights[:, None] * sines).sum(axis=0) / (weights**2).sum()
            move = rotate(conjugate(node.rotation), move)
            for shorter in (1.0, 0.5, 0.25):
                nodes[k] = node._replace(rotation=_rotate(node.rotation, shorter * move))
                errors = angle_between(sample_chain(nodes, frames), rotations[frames])
                if errors.max() <= tolerance and (np.sin(errors / 2) ** 2).sum() < (sines**2).sum():
                    break
            else:
                nodes[k] = node
    return nodes


def _interpolation_weights(nodes: list[Node], k: int, n_frames: int) -> tuple[np.ndarray, Floats]:
    """Return the frames that a key influences, and its interpolation weights in them."""
    frames, weights = [], []
    for t in range(n_frames):
        if t <= nodes[k].frame:
            before = nodes[k - 1].frame if k else None
            weight = 1.0 if before is None else (t - before) / (nodes[k].frame - before)
        else:
            after = nodes[k + 1].frame if k + 1 < len(nodes) else None
            weight = 1.0 if after is None else (after - t) / (after - nodes[k].frame)
        if weight > 0:
            frames.append(t)
            weights.append(weight)
    return np.array(frames), np.array(weights)


def sample_chain(nodes: list[Node], frames: np.ndarray) -> Floats:
    rows = []
    for t in frames.tolist():
        if t <= nodes[0].frame:
            rows.append(nodes[0].rotation)
        elif t >= nodes[-1].frame:
            rows.append(nodes[-1].rotation)
        else:
            a, b = next((a, b) for a, b in pairwise(nodes) if a.frame <= t <= b.frame)
            rows.append(slerp(a.rotation, b.rotation, np.array([(t - a.frame) / (b.frame - a.frame)])))
    return np.array(rows)


def _vector_between(a: Floats, b: Floats) -> Floats:
    return log(multiply(conjugate(a), b))


def _rotate(rotation: Floats, vector: Floats) -> Floats:
    return normalise(multiply(rotation, exp(vector)))
