// Overlap of the swings of two clips: the shift with the best score, and the swings that match there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// Swings of body parts in a range of time; they are clipped to it.
struct SwingTable {
    const std::int32_t* body_parts;  // (n,)
    const double* starts;            // (n,) seconds
    const double* ends;              // (n,) seconds
    const double* axes;              // (n, 3) unit
    std::size_t n;
    const bool* present;             // (n_body_parts,) which body parts the skeleton has
    double start_s, end_s;           // the range
};

// A swing of the query and one of the other clip that rotate about similar axes at the same time.
struct SwingPair {
    std::int32_t query, other;  // their indices
    double cosine;  // between the axes
    double overlap_s;
};

struct SwingOverlap {
    double score;       // at most 1
    std::int64_t shift;  // in samples: start of the query in the other clip
    std::vector<SwingPair> matches;  // the longest overlap first
};

// Samples both clips at `rate` per second and shifts the shorter one along the other. The score of a shift is the
// samples that swings have in common, divided by those in a swing of either; with `by_axes` common samples are weighted
// by the cosine between the axes. Of shifts with equal scores the first is returned.
SwingOverlap overlap_swings(const SwingTable& query, const SwingTable& other, std::size_t n_body_parts, double rate,
                            double min_cosine, bool by_axes);

}  // namespace keypose
