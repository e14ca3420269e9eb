// Distances between the windows of a query and those of clips, in both directions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace keypose {

struct ClipWindows {
    const float* vectors;         // (N, D), concatenated clips
    const float* squares;         // (N,) squared lengths
    const float* weights;         // (N,)
    const std::int32_t* bounds;   // clip c has the vectors from bounds[c] to bounds[c + 1]
    std::size_t dimensions;
};

// forward (W, K): distance from each vector of the query to the nearest vector of each clip in clip_indices.
// backward (Q, K): the weighted sum over the vectors of that clip of the distances to the nearest vector of the query,
// for each of Q variants of the query; variant k has the query's vectors from variants[k] to variants[k + 1].
void nearest_windows(const float* query, std::size_t windows, const std::int32_t* variants, std::size_t n_variants,
                     const ClipWindows& clips, const std::int64_t* clip_indices, std::size_t n_clips, float* forward,
                     double* backward);

// The row from `first` to `last` at which `rows` (N, D) are nearest to a `pattern` (M, D), and the mean squared
// distance there. Of equal matches the first.
struct Match {
    std::size_t at;
    double square;
};
Match nearest_match(const double* rows, const double* pattern, std::size_t length, std::size_t dimensions,
                    std::size_t first, std::size_t last);

}  // namespace keypose
