"""Slow, obvious twins of the methods; exported by ``naive``."""

from __future__ import annotations

import itertools
import math

import numpy as np

import keypose as kp


def chord_costs(points: np.ndarray, total: str, measure: str) -> np.ndarray:
    """Return the cost of each edge i -> j: the distance of the points between from the line through both ends.

    ``measure`` "largest": the largest distance, squared unless ``total`` is "sum"; "integrated": the sum of
    squared distances.
    """
    n = len(points)
    costs = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 2, n):
            along = points[j] - points[i]
            between = points[i + 1 : j] - points[i]
            length = np.linalg.norm(along)
            if length > 0:
                between = between - np.outer(between @ along / length, along / length)
            squares = (between**2).sum(axis=1)
            if measure == "integrated":
                costs[i, j] = squares.sum()
            else:
                costs[i, j] = np.sqrt(squares.max()) if total == "sum" else squares.max()
    return costs


def salient_costs(costs, max_keys, total, *, min_gap=1, max_gap=None, allowed=None, pinned=()):
    """Return the cost of the best path from the first to the last frame with exactly m keys, for every m."""
    n = len(costs)
    best = np.full((max_keys + 1, n), np.inf)
    best[1, 0] = 0.0
    for m in range(2, max_keys + 1):
        for j in range(1, n):
            for k in range(j):
                too_far = j - k < min_gap or (max_gap is not None and j - k > max_gap)
                if too_far or any(k < pin < j for pin in pinned) or (allowed is not None and not allowed[j]):
                    continue
                so_far = best[m - 1, k]
                joined = so_far + costs[k, j] if total == "sum" else max(so_far, costs[k, j])
                best[m, j] = min(best[m, j], joined)
    return best[:, -1]


def rounding_error(values: np.ndarray) -> float:
    """Return the distance below which two frames differ only by rounding."""
    return 8 * np.finfo(float).eps * max(math.sqrt(sum(x * x for x in row)) for row in values)


def simplify(values: np.ndarray) -> tuple[list[int], list[float]]:
    """Lim & Thalmann: split the segment with the largest distance until every frame is a key -> (order, costs)."""
    rounding, order, costs = rounding_error(values), [0, len(values) - 1], []
    while True:
        off = []  # distance, then the tie-break, then the frame at which to split
        keys = sorted(order)
        for i, a in enumerate(keys[:-1]):
            b = keys[i + 1]
            along = values[b] - values[a]
            length = np.linalg.norm(along)
            distances = []
            for t in range(a + 1, b):
                rest = values[t] - values[a]
                if length > rounding:
                    rest = rest - (rest @ along / length) * (along / length)
                distances.append(np.linalg.norm(rest))
            if distances and max(distances) > rounding:
                off.append((max(distances), 0, -a, a + 1 + distances.index(max(distances))))
            elif distances:
                off.append((0.0, b - a, -a, (a + b) // 2))
        costs.append(max(off)[0] if off else 0.0)
        if not off:
            return order, costs
        order.append(max(off)[-1])


def decimate(values: np.ndarray, is_squared: bool) -> tuple[list[int], list[float]]:
    """Okuda: remove the key whose merged span has the smallest summed error, until two are left -> (order, costs)."""
    rounding = rounding_error(values)

    def error(a: int, c: int) -> float:
        total = 0.0
        for t in range(a + 1, c):
            distance = np.linalg.norm(values[t] - values[a] - (t - a) / (c - a) * (values[c] - values[a]))
            total += distance**2 if is_squared else distance
        return total if total > (c - a - 1) * (rounding**2 if is_squared else rounding) else 0.0

    keys, removed, costs = list(range(len(values))), [], [0.0]
    while len(keys) > 2:
        spans = zip(keys[:-2], keys[1:-1], keys[2:], strict=True)
        _, _, removed_key = min((error(a, c), c - a, b) for a, b, c in spans)
        keys.remove(removed_key)
        removed.append(removed_key)
        total = sum(error(keys[i], keys[i + 1]) for i in range(len(keys) - 1))
        costs.append(math.sqrt(total) if is_squared else total)
    return [0, len(values) - 1, *removed[::-1]], costs[::-1]


def curve_saliency(curve, sigma: float, cut: float) -> np.ndarray:
    """Return |fine average - coarse average| of each frame, by the definition."""
    out = np.zeros(len(curve))
    for t in range(len(curve)):
        averages = []
        for s in (sigma, 2 * sigma):
            inside = [u for u in range(len(curve)) if abs(u - t) <= cut * s + 1e-9]
            weights = [math.exp(-0.5 * ((u - t) / s) ** 2) for u in inside]
            averages.append(sum(w * curve[u] for w, u in zip(weights, inside, strict=True)) / sum(weights))
        out[t] = abs(averages[0] - averages[1])
    return out


def extremum_frames(curve, first: int, last: int, extremes: str) -> list[int]:
    """Return inner frames of a cluster where the value has an extremum; the last frame of a flat top."""
    frames = []
    for t in range(first + 1, last):
        before = t - 1
        while extremes == "flat" and before > first and curve[before] == curve[t]:
            before -= 1
        if (curve[t] - curve[before]) * (curve[t + 1] - curve[t]) < 0:
            frames.append(t)
    return frames


def saliency_candidates(curve, saliency, threshold, extremes: str) -> list[int]:
    """Return the most salient extremum of each run of S > threshold (one per frame)."""
    candidates, t, n = [], 0, len(curve)
    while t < n:
        end = t
        while end < n and saliency[end] > threshold[end]:
            end += 1
        extrema = extremum_frames(curve, t, end - 1, extremes) if end > t else []
        if extrema:
            candidates.append(max(extrema, key=lambda u: (saliency[u], -u)))
        t = max(end, t + 1)
    return candidates


def thin_keys(frames, importance, gap: int, keys: list[int]) -> list[int]:
    """Return ``keys`` and those of ``frames``, most important first, that are at least ``gap`` from every one before."""
    out = list(keys)
    for frame in sorted(set(frames), key=lambda f: (-importance[f], f)):
        if all(abs(frame - key) >= gap for key in out):
            out.append(frame)
    return out


def saliency_keys(values, sigma, cut, gap, rank, extremes) -> tuple[list[list[int]], list[int], list[int]]:
    """Return candidates of each curve, accepted keys in order, and the order continued to every frame."""
    n, width = values.shape
    saliency = np.array([curve_saliency(values[:, d], sigma, cut) for d in range(width)]).T
    mean = saliency.mean(axis=0)
    per_curve = [saliency_candidates(values[:, d], saliency[:, d], np.full(n, mean[d]), extremes) for d in range(width)]
    importance = [
        max(saliency[t] / mean) if rank == "joint" else math.sqrt(sum(s * s for s in saliency[t])) for t in range(n)
    ]
    accepted = thin_keys([frame for candidates in per_curve for frame in candidates], importance, gap, [0, n - 1])
    order = accepted
    while len(order) < n:
        order = thin_keys(range(n), importance, gap, order)
        gap = max(1, gap // 2)
    return per_curve, accepted, order


def streaming_saliency_keys(values, sigma, cut, gap, rank, extremes, lookahead, step, history) -> list[int]:
    """Return the keys of the streaming method, computed afterwards from the frames known at each time."""
    n, width = values.shape
    reach = int(2 * cut * sigma + 1e-9)
    saliency = np.array([curve_saliency(values[:, d], sigma, cut) for d in range(width)]).T
    step = min(step, max(1, lookahead // 2))
    keys, decided, is_over = [0], 0, False
    while not is_over:
        is_over = n <= decided + lookahead + reach
        measured, stop = (n, n) if is_over else (decided + lookahead + 1, decided + step)
        first = max(0, min(decided - history, decided + lookahead + 1 - step - reach))
        mean = saliency[:measured].mean(axis=0)
        importance = {
            t: max(saliency[t] / mean) if rank == "joint" else math.sqrt(sum(s * s for s in saliency[t]))
            for t in range(first, measured)
        }
        candidates = []
        for d in range(width):
            window, threshold = slice(first, measured), np.full(measured - first, mean[d])
            frames = saliency_candidates(values[window, d], saliency[window, d], threshold, extremes)
            candidates += [first + frame for frame in frames if first + frame >= decided]
        new = thin_keys(candidates, importance, gap, [keys[-1], n - 1] if is_over else [keys[-1]])
        keys = sorted({*keys, *(frame for frame in new if frame < stop)})
        decided = stop
    return keys


def natural_spline(keys, values, at):
    """Return the natural cubic spline of one curve: second derivatives from a full matrix, time by time."""
    k, v = np.asarray(keys, float), np.asarray(values, float)
    second, h = np.zeros(len(k)), np.diff(k)
    if len(k) > 2:
        matrix, right = np.zeros((len(k) - 2, len(k) - 2)), np.zeros(len(k) - 2)
        for i in range(len(k) - 2):
            matrix[i, i] = 2 * (h[i] + h[i + 1])
            if i:
                matrix[i, i - 1] = matrix[i - 1, i] = h[i]
            right[i] = 6 * ((v[i + 2] - v[i + 1]) / h[i + 1] - (v[i + 1] - v[i]) / h[i])
        second[1:-1] = np.linalg.solve(matrix, right)
    out = []
    for t in at:
        i = max(j for j in range(len(k) - 1) if k[j] <= t or j == 0)
        a, b = (k[i + 1] - t) / h[i], (t - k[i]) / h[i]
        bend = (a**3 - a) * second[i] + (b**3 - b) * second[i + 1]
        out.append(a * v[i] + b * v[i + 1] + bend * h[i] ** 2 / 6)
    return np.array(out)


def refine_sections(y, max_range, min_frames):
    """Return first and last frame of straight sections, from the left, each as long as possible."""
    sections, s = [], 0
    while s < len(y):
        e = s
        while e + 1 < len(y) and max(y[s : e + 2]) - min(y[s : e + 2]) < max_range:
            e += 1
        if e - s + 1 >= min_frames:
            sections.append((s, e))
            s = e
        s += 1
    return sections


def refine_extrema(y, min_prominence):
    """Return the middles of plateaus (one frame or more) that are strict local extrema with enough prominence."""
    frames = []
    for z in (list(y), [-v for v in y]):
        for s in range(1, len(z) - 1):
            e = s
            while e + 1 < len(z) and z[e + 1] == z[s]:
                e += 1
            if e == len(z) - 1 or not (z[s - 1] < z[s] > z[e + 1]):
                continue
            left, right = s, e
            while left > 0 and z[left - 1] <= z[s]:
                left -= 1
            while right + 1 < len(z) and z[right + 1] <= z[s]:
                right += 1
            if z[s] - max(min(z[left : s + 1]), min(z[s : right + 1])) >= min_prominence:
                frames.append((s + e) // 2)
    return sorted(frames)


def refine_curve(y, *, threshold, min_range, straight_range, straight_frames, prominence, jump):
    """Return the keys and the fixed frames of one curve, and those strictly inside straight sections, as sets."""
    n, amplitude = len(y), max(y) - min(y)
    if amplitude == 0:
        return {0, n - 1}, {0, n - 1}, set()
    z = [(v - min(y)) / amplitude for v in y]
    fixed, straight = {0, n - 1}, set()
    for s, e in refine_sections(z, straight_range, straight_frames):
        fixed |= {s, s + 1, e - 1, e}
        straight |= set(range(s + 1, e))
    fixed |= set(refine_extrema(z, prominence)) - straight
    for t in range(1, n - 1):
        if abs(z[t] - z[t - 1]) > jump and abs(z[t + 1] - z[t]) > jump:
            fixed |= {t - 1, t, t + 1}
    keys = set(fixed)
    while True:
        at = sorted(keys)
        spline = natural_spline(at, [z[t] for t in at], range(n))
        new = set()
        for i in range(1, len(at)):
            a, b = at[i - 1], at[i]
            inside = [t for t in range(a + 1, b) if t not in straight]
            if not inside:
                continue
            worst = max(inside, key=lambda t: (abs(spline[t] - z[t]), -t))
            extent = max(z[t] for t in inside) - min(z[t] for t in inside)
            if abs(spline[worst] - z[worst]) > threshold * max(extent, min_range):
                new.add(worst)
        if not new:
            return keys, fixed, straight
        keys |= new


def refine_reduce(keys, fixed):
    """Apply rule 1 to every pair of adjacent keys without another beside them, then rule 2 key by key from the left."""
    left = set(keys)
    for t in keys:
        is_pair = t + 1 in keys and t - 1 not in keys and t + 2 not in keys
        if is_pair and t not in fixed and t + 1 not in fixed:
            left.remove(t)
    for t in sorted(left):
        if t - 1 in left and t + 1 in left and t not in fixed:
            left.remove(t)
    return sorted(left)


def refine_samples(n_frames, fps):
    """Return the times of frames at 30 fps, in frames at ``fps``: every n-th one if rates are within 0.1 %."""
    for step in range(1, 1000):
        if abs(fps / 30 - step) <= 0.001 * step:
            return [float(t) for t in range(0, n_frames, step)]
    times = []
    while len(times) * fps / 30 <= n_frames - 1 + 1e-9:
        times.append(min(len(times) * fps / 30, n_frames - 1))
    return times


def refine_joint(curves, fps, options):
    """Return the keys of one joint with ``curves`` (T, A) at any rate, as frames, and its keys at 30 fps."""
    n = len(curves)
    times = refine_samples(n, fps)
    keys, fixed = {0, len(times) - 1}, {0, len(times) - 1}
    for y in np.transpose(curves):
        z = []
        for t in times:
            i = min(int(t), n - 2) if n > 1 else 0
            z.append(y[i] if t == i else y[i] + (t - i) * (y[i + 1] - y[i]))
        curve_keys, curve_fixed, _ = refine_curve(z, **options)
        keys, fixed = keys | curve_keys, fixed | curve_fixed
    own = refine_reduce(keys, fixed)
    frames = {0, n - 1}
    for k in own[:-1]:
        frames.add(min(range(n), key=lambda t: (abs(t - times[k]), -t)))
    return sorted(frames), own


def refine_ranking(values, keys):
    """Return frames by importance and their distances: round by round, span by span."""
    n = len(values)
    off, importance, level = {0: 0.0, n - 1: 0.0}, {0: math.inf, n - 1: math.inf}, {0: 0, n - 1: 0}
    taken_frames, round_ = [0, n - 1], 0
    for candidates in (set(keys), set(range(n))):
        start = round_
        while candidates - set(taken_frames):
            round_ += 1
            at = sorted(taken_frames)
            for j in range(1, len(at)):
                a, b = at[j - 1], at[j]
                inside = [t for t in range(a + 1, b) if t in candidates]
                if not inside:
                    continue
                far = [
                    float(np.abs(values[t] - values[a] - (t - a) / (b - a) * (values[b] - values[a])).max())
                    for t in inside
                ]
                i = len(inside) // 2 if max(far) == 0 or round_ > start + 2 * n.bit_length() else far.index(max(far))
                t = inside[i]
                off[t], level[t] = far[i], round_
                importance[t] = min(far[i], importance[a], importance[b])
                taken_frames.append(t)
    order = sorted(range(n), key=lambda t: (t not in keys, -importance[t], level[t], t))
    return order, [off[t] for t in order]


def farthest_first(values: np.ndarray, max_keys: int) -> tuple[list[int], list[float]]:
    """Return keys by farthest-first traversal from the mean, and the largest remaining distance after each."""
    mean = values.mean(axis=0)
    distances = [float(np.sqrt(((row - mean) ** 2).sum())) for row in values]
    keys: list[int] = []
    radii: list[float] = []
    while len(keys) < max_keys and (not keys or max(distances) > 0):
        keys.append(min(t for t, d in enumerate(distances) if d >= max(distances) * (1 - 5e-13)))  # ties to the lowest
        for t, row in enumerate(values):
            distances[t] = min(distances[t], float(np.sqrt(((row - values[keys[-1]]) ** 2).sum())))
        radii.append(max(distances))
    return keys, radii


def spread_keys(values: np.ndarray, count: int) -> tuple[tuple[int, ...], float]:
    """Return the choice of frames with the largest sum of distances of neighbours, by brute force.

    Of equals the one whose last key is lowest, then the one before it, and so on.
    """
    distance = np.sqrt(((values[:, None] - values[None]) ** 2).sum(axis=2)).tolist()
    best, best_sum = (), -1.0
    for mask in range(2 ** len(values)):  # ordered by the last key, then the one before it
        chosen = tuple(t for t in range(len(values)) if mask >> t & 1)
        total = sum(distance[chosen[i]][chosen[i + 1]] for i in range(len(chosen) - 1))
        if len(chosen) == count and total > best_sum:
            best, best_sum = chosen, total
    return best, best_sum


def synopsis_distances(values: np.ndarray, keys: list[int]) -> dict[int, float]:
    """Return the distance of every other frame than keys from the mean pose of its segment, both its keys included."""
    distances = {}
    for first, last in zip(sorted(keys), sorted(keys)[1:], strict=False):
        mean = sum(values[t] for t in range(first, last + 1)) / (last + 1 - first)
        for t in range(first + 1, last):
            distances[t] = float(np.sqrt(((values[t] - mean) ** 2).sum()))
    return distances


def gaussian(values: np.ndarray, sigma: float, cut: float) -> np.ndarray:
    """Return each frame as the mean of those at most cut sigmas away, weighted by a Gaussian."""
    out = np.empty_like(values)
    reach = int(cut * sigma + 1e-9)
    for t in range(len(values)):
        near = range(max(0, t - reach), min(len(values), t + reach + 1))
        weights = np.array([np.exp(-0.5 * ((s - t) / sigma) ** 2) for s in near])
        out[t] = weights @ values[list(near)] / weights.sum()
    return out


def inbetween_errors(motion, keys: list[int], start: int, stop: int) -> tuple[np.ndarray, list[float], list[float]]:
    """Return errors (frames, joints) of linear in-betweens; the largest of each key's span, and without that key."""
    from keypose.curves import interpolate_linear

    part = motion[start:stop]

    def off(positions: list[int]) -> np.ndarray:
        rebuilt = interpolate_linear(part, [key - start for key in positions]).world_positions()
        away = rebuilt - part.world_positions()
        return motion.mm_per_unit * np.sqrt((away**2).sum(axis=2))

    errors, span, without = off(keys), [], []
    for k in range(len(keys)):
        last = keys[k + 1] if k + 1 < len(keys) else stop
        span.append(max(errors[t - start].max() for t in range(keys[k] if k else start, last)))
        if len(keys) > 1:
            left = off(keys[:k] + keys[k + 1 :])
            without.append(max(left[t - start].max() for t in range(keys[k - 1] if k else start, last)))
    return errors, span, without


def preferred_penalty(keys, costs, limit, weights, near: float, near_share: float, cost_share: float) -> float:
    """Return the penalty of ``keys``: preferred frames that have no key near, distances of those that have, and costs.

    Infinite if a span costs more than ``limit``.
    """
    total = 0.0
    for i, j in itertools.pairwise(keys):
        if costs[i, j] > limit:
            return math.inf
        total += cost_share * max(weights) * (costs[i, j] / limit) ** 2 if limit > 0 else 0.0
    for frame, weight in enumerate(weights):
        distance = min(abs(frame - key) for key in keys)
        total += weight * (near_share * distance / near if distance <= near else 1.0)
    return total


def naive_holds(motion: kp.Motion, max_mm_per_s: float, min_s: float, max_gap_s: float) -> list[tuple[int, int]]:
    """Return the first and last frame of each hold, frame by frame."""
    world = motion.world_positions() * motion.mm_per_unit
    holds: list[tuple[int, int]] = []
    first = None
    for frame in range(motion.n_frames):
        is_still = frame + 1 < motion.n_frames and all(
            np.linalg.norm(world[frame + 1, joint] - world[frame, joint]) * motion.fps <= max_mm_per_s
            for joint in range(motion.n_joints)
        )
        if is_still and first is None:
            first = frame
        if not is_still and first is not None:
            if holds and (first - holds[-1][1]) / motion.fps <= max_gap_s:
                first = holds.pop()[0]
            holds.append((first, frame))
            first = None
    return [(first, last) for first, last in holds if (last - first) / motion.fps >= min_s]
