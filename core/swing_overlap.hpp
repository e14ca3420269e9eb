// Overlap of the swings of two clips: the shift with the best score, and the swings that match there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// Swings of body parts between two times; swings are clipped to this range.
struct SwingTable {
    const std::int32_t* body_parts;  // (n,)
    const double* starts;       // (n,) seconds
    const double* ends;         // (n,)
    const double* axes;         // (n, 3) unit
    std::size_t n;
    const bool* present;  // (n_body_parts,) which body parts the skeleton has
    double start_s, end_s;      // seconds
};

// Indices of a swing of either clip that rotate about a similar axis at the same time.
struct SwingPair {
    std::int32_t query, other;
    double cosine;  // between the axes
    double overlap_s;
};

struct SwingOverlap {
    double score;       // at most 1
    std::int64_t shift;  // in samples: start of the query in the other clip
    std::vector<SwingPair> matches;  // the longest overlap first
};

// Both are sampled at `rate` per second, and the shorter one slides along the other. With `by_axes`, overlap is
// weighted by the cosine between the axes. Of equal shifts the first is returned.
SwingOverlap overlap_swings(const SwingTable& query, const SwingTable& other, std::size_t n_body_parts, double rate,
                            double min_cosine, bool by_axes);

}  // namespace keypose
