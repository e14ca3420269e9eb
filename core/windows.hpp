// Distances between the window vectors of a query and those of clips, in both directions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace keypose {

struct ClipWindows {
    const float* vectors;         // (N, D), concatenated clips
    const float* squares;         // (N,) squared lengths
    const float* weights;         // (N,)
    const std::int32_t* bounds;   // clip c has the vectors from bounds[c] to bounds[c + 1] - 1
    std::size_t dimensions;
};

// Computes for the K clips in clip_indices:
// forward (W, K), the distance from each vector of the query to the nearest vector of the clip;
// backward (Q, K), the weighted sum over the vectors of the clip of the distances to the nearest vector of the query,
// for each of Q variants of the query. Variant k has the vectors of the query from variants[k] to variants[k + 1] - 1.
void nearest_windows(const float* query, std::size_t windows, const std::int32_t* variants, std::size_t n_variants,
                     const ClipWindows& clips, const std::int64_t* clip_indices, std::size_t n_clips, float* forward,
                     double* backward);

struct Match {
    std::size_t at;
    double square;  // the mean over the rows of the pattern of the squared distances
};
// Returns the row from `first` to `last` at which the next `length` of the `rows` (N, D) are nearest to `pattern`
// (length, D); of equal matches the first.
Match nearest_match(const double* rows, const double* pattern, std::size_t length, std::size_t dimensions,
                    std::size_t first, std::size_t last);

}  // namespace keypose
