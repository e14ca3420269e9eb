// Optimal keyframes for every number of keys (Roberts et al. 2018): a shortest path over edges between frames.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "inbetween.hpp"

namespace keypose {

struct SalientProblem {
    const double* points = nullptr;  // (frames, dims): edges cost what their frames are off the chord, or
    const double* costs = nullptr;   // (frames, greatest_gap): the costs themselves, from frame i to i + 1, i + 2, ...
    const Clip* clip = nullptr;      // or what curves between keys leave out of a clip
    InbetweenKind kind;              // of these curves
    std::size_t frames = 0, dims = 0;
    std::size_t max_keys = 0;
    double limit = std::numeric_limits<double>::infinity();  // paths that cost more are left out
    bool top_only = false;    // of curves: leave out paths that cost more than the one with max_keys keys
    bool sum = false;         // cost of a path: the sum of its edges, else the largest
    bool integrated = false;  // cost of an edge: the sum of squared distances, else the largest distance
    std::size_t least_gap = 1, greatest_gap = 0;  // frames from key to key
    const std::uint8_t* allowed = nullptr;        // (frames) may be a key
    const std::uint8_t* pinned = nullptr;         // (frames) must be a key
    unsigned threads = 1;
    // Numbers held at a time, if the gaps allow; what does not fit is made again. The defaults: 1 GB and 256 MB.
    std::size_t most_distances = std::size_t{1} << 27, most_parents = std::size_t{1} << 26;
    bool (*keep_going)() = nullptr;               // asked now and then by the calling thread
};

struct SalientPaths {
    std::vector<double> costs;       // [m]: of the best path with exactly m keys; infinite if there is none
    std::vector<std::int32_t> keys;  // the paths with 2, 3, ... keys, one after another; -1 where there is none
    bool finished = true;            // false: keep_going said no
};

SalientPaths salient_paths(const SalientProblem& problem);

}  // namespace keypose
