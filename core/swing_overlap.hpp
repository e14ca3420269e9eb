// Swings of two clips laid over each other: where they overlap most, and which of them agree there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// Swings of body parts between two times; those that reach beyond are cut there.
struct SwingSheet {
    const std::int32_t* parts;  // (n,)
    const double* starts;       // (n,) seconds
    const double* ends;         // (n,)
    const double* axes;         // (n, 3) unit
    std::size_t n;
    const bool* present;  // (n_parts,) which parts the body has
    double from, to;      // seconds
};

// A swing of either clip, by their places, that turn the same way at the same time.
struct SwingPair {
    std::int32_t query, other;
    double cosine;  // between the axes
    double together_s;
};

struct SwingOverlap {
    double score;       // at most 1
    std::int64_t shift;  // in samples: when, in the other clip, the query starts
    std::vector<SwingPair> agreeing;  // the longest together first
};

// Both are sampled `rate` times a second, and the shorter one slides along the other. With `by_axes`, time together
// counts as far as the axes agree. Of equal shifts the first.
SwingOverlap overlap_swings(const SwingSheet& query, const SwingSheet& other, std::size_t n_parts, double rate,
                            double least_cosine, bool by_axes);

}  // namespace keypose
