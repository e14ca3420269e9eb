// Optimal keyframes for every number of keys (Roberts et al. 2018): a shortest path over edges between frames.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "inbetween.hpp"

namespace keypose {

struct SalientProblem {
    const double* points = nullptr;  // (frames, dims): edge costs are distances to the chord; or
    const double* costs = nullptr;   // (frames, max_gap): given costs, from frame i to i + 1, i + 2, ...; or
    const Clip* clip = nullptr;      // edge costs are errors of curves between keys
    InbetweenKind kind;              // of these curves
    std::size_t frames = 0, dims = 0;
    std::size_t max_keys = 0;
    double limit = std::numeric_limits<double>::infinity();  // paths with higher costs are skipped
    bool top_only = false;    // for curves: skip paths with higher costs than that of the path with max_keys keys
    bool sum = false;         // cost of a path: the sum of its edges; else the maximum
    bool integrated = false;  // cost of an edge: the sum of squared distances; else the largest distance
    std::size_t min_gap = 1, max_gap = 0;  // frames between keys
    const std::uint8_t* allowed = nullptr;        // (frames) may be a key
    const std::uint8_t* pinned = nullptr;         // (frames) must be a key
    unsigned threads = 1;
    // Maximum numbers stored at a time, if the gaps allow that; others are computed again. The defaults are 1 GB and
    // 256 MB.
    std::size_t max_distances = std::size_t{1} << 27, max_parents = std::size_t{1} << 26;
    bool (*keep_going)() = nullptr;               // called regularly by the calling thread; false interrupts
};

struct SalientPaths {
    std::vector<double> costs;       // [m]: of the best path with exactly m keys; infinite if none
    std::vector<std::int32_t> keys;  // the paths with 2, 3, ... keys, concatenated; -1 if none
    bool finished = true;            // false: interrupted by keep_going
};

SalientPaths salient_paths(const SalientProblem& problem);

// Writes the costs (frames, min(max_gap, frames - 1)) of the edges from frame i to i + 1, i + 2, ..., for points and
// clips; infinite if the cost exceeds the limit or the edge skips a pinned frame. Returns false if interrupted.
bool salient_costs(const SalientProblem& problem, double* out);

}  // namespace keypose
