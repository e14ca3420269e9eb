"""Optimal keyframes by two other implementations: the same formula in numpy, and the plain loop over dimensions in C++.

Both find the best keys for every number of keys ("max" objective, largest chord distance) and return the same as
``keypose._core.salient_paths``: squared costs by number of keys, and the keys of one path after another.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

Paths = tuple[np.ndarray, np.ndarray]


def numpy_paths(points: np.ndarray, max_keys: int) -> Paths:
    """Return costs and keys; the fastest of several designs: in place, in tiles that fit the cache of a core."""
    edges = _edge_costs(_squared_distances(points))
    edges[np.triu_indices(len(points))] = np.inf
    best = _best_costs(edges, max_keys)
    return np.append([0.0, 0.0], best[2:, -1]), _trace_paths(edges, best)


def _squared_distances(points: np.ndarray) -> np.ndarray:
    """Return the squared distances by direct differences; a Gram matrix would be faster but less precise."""
    n = len(points)
    squares = np.empty((n, n))
    for i in range(n):
        off = points[i:] - points[i]
        np.einsum("td,td->t", off, off, out=squares[i, i:])
        squares[i:, i] = squares[i, i:]
    return squares


def _edge_costs(squares: np.ndarray, n_columns: int = 512, n_rows: int = 128) -> np.ndarray:
    """Return [j, i], the largest ``x - (r * (x - y) + h)^2`` over the frames t between; x = Q[t, i], y = Q[t, j].

    A tile contains x for ``n_rows`` frames t and ``n_columns`` frames i, and is used for every j after it. Where t is
    not after i, x is -1, so that the result is below 0 and never the largest.
    """
    n = len(squares)
    x_of = np.tril(squares, -1)
    x_of[np.triu_indices(n)] = -1.0
    half = np.sqrt(squares)
    ratio = np.divide(0.5, half, out=np.zeros_like(half), where=half > 0)
    half *= 0.5
    edges = np.zeros((n, n))
    buffer, largest_buffer = np.empty(n_columns * n_rows), np.empty(n_columns)
    for i0 in range(0, n - 2, n_columns):
        for t0 in range(i0 + 1, n - 1, n_rows):
            t1 = min(t0 + n_rows, n - 1)
            i1 = min(i0 + n_columns, t1)
            tile = np.ascontiguousarray(x_of[t0:t1, i0:i1])
            y_of = np.ascontiguousarray(squares[:, t0:t1])[:, :, None]
            work, largest = buffer[: tile.size].reshape(tile.shape), largest_buffer[: i1 - i0]
            for j in range(t0 + 1, n):
                x, y, w = (tile, y_of[j], work) if j >= t1 else (tile[: j - t0], y_of[j, : j - t0], work[: j - t0])
                np.subtract(x, y, out=w)
                np.multiply(w, ratio[j, i0:i1], out=w)
                np.add(w, half[j, i0:i1], out=w)
                np.multiply(w, w, out=w)
                np.subtract(x, w, out=w)
                np.maximum.reduce(w, axis=0, out=largest)
                edge = edges[j, i0:i1]
                np.maximum(edge, largest, out=edge)
    return edges


def _best_costs(edges: np.ndarray, max_keys: int, rows: int = 64) -> np.ndarray:
    """Return [m, j], the cost of the best path with m keys from the first frame to j."""
    n = len(edges)
    best = np.full((max_keys + 1, n), np.inf)
    best[1, 0] = 0.0
    buffer = np.empty(rows * n)
    for m in range(2, max_keys + 1):
        first = m - 2  # no path with m - 1 keys ends earlier
        for j0 in range(m - 1, n, rows):
            j1 = min(j0 + rows, n)
            through = buffer[: (j1 - j0) * (j1 - first)].reshape(j1 - j0, j1 - first)
            np.maximum(edges[j0:j1, first:j1], best[m - 1, first:j1], out=through)
            np.minimum.reduce(through, axis=1, out=best[m, j0:j1])
    return best


def _trace_paths(edges: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Return the keys of the best paths; parents are recomputed here, as only those of the paths are needed."""
    keys = []
    for m in range(2, len(best)):
        path = [len(edges) - 1]
        for k in range(m - 1, 0, -1):
            j = path[-1]
            path.append(int(np.argmin(np.maximum(edges[j, :j], best[k, :j]))))
        keys += path[::-1]
    return np.array(keys, np.int32)


PLAIN = r"""
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

// Roberts et al. 2018, as printed: a table of all pairs, then one row of the table of paths after another.
extern "C" void plain_loop(const double* p, std::size_t n, std::size_t dims, std::size_t max_keys, double* costs,
                           std::int32_t* keys) {
    std::vector<double> edge(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 2; j < n; ++j) {
            const double *a = p + i * dims, *b = p + j * dims;
            double length = 0.0, largest = 0.0;
            for (std::size_t d = 0; d < dims; ++d) length += (b[d] - a[d]) * (b[d] - a[d]);
            for (std::size_t t = i + 1; t < j; ++t) {
                const double* c = p + t * dims;
                double dot = 0.0, square = 0.0;
                for (std::size_t d = 0; d < dims; ++d) dot += (c[d] - a[d]) * (b[d] - a[d]);
                const double along = length > 0.0 ? dot / length : 0.0;
                for (std::size_t d = 0; d < dims; ++d) {
                    const double off = c[d] - a[d] - along * (b[d] - a[d]);
                    square += off * off;
                }
                largest = std::max(largest, square);
            }
            edge[i * n + j] = largest;
        }
    const double infinite = std::numeric_limits<double>::infinity();
    std::vector<double> best((max_keys + 1) * n, infinite);
    std::vector<std::int32_t> parent((max_keys + 1) * n, -1);
    best[n] = 0.0;
    for (std::size_t m = 2; m <= max_keys; ++m) {
        for (std::size_t j = 1; j < n; ++j)
            for (std::size_t k = 0; k < j; ++k) {
                const double through = std::max(best[(m - 1) * n + k], edge[k * n + j]);
                if (through < best[m * n + j]) {
                    best[m * n + j] = through;
                    parent[m * n + j] = static_cast<std::int32_t>(k);
                }
            }
        costs[m] = best[m * n + n - 1];
        std::int32_t at = static_cast<std::int32_t>(n - 1);
        for (std::size_t k = m; k >= 1; --k) {
            keys[k - 1] = at;
            at = parent[k * n + at];
        }
        keys += m;
    }
}
"""


def compile_plain_loop(folder: Path) -> Callable[[np.ndarray, int], Paths] | None:
    """Compile the plain loop into ``folder``; return a function that runs it, None without a C++ compiler."""
    compiler = next(filter(None, map(shutil.which, ("g++", "clang++", "c++"))), None)
    if compiler is None:
        return None
    source, library = folder / "plain.cpp", folder / "plain.so"
    source.write_text(PLAIN)
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    run = ctypes.CDLL(str(library)).plain_loop
    run.restype = None
    run.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 3, ctypes.c_void_p, ctypes.c_void_p]

    def run_plain_loop(points: np.ndarray, max_keys: int) -> Paths:
        costs = np.zeros(max_keys + 1)
        keys = np.empty(max_keys * (max_keys + 1) // 2 - 1, np.int32)
        run(points.ctypes.data, *points.shape, max_keys, costs.ctypes.data, keys.ctypes.data)
        return costs, keys

    return run_plain_loop
