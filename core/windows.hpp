// How far the windows of a query are from those of clips, both ways.
#pragma once

#include <cstddef>
#include <cstdint>

namespace keypose {

struct WindowsOfClips {
    const float* vectors;         // (N, D), one clip after another
    const float* squares;         // (N,) of their lengths
    const float* weights;         // (N,)
    const std::int32_t* bounds;   // clip c has the vectors from bounds[c] to bounds[c + 1]
    std::size_t dimensions;
};

// there (W, K): from each vector of the query to the nearest of each chosen clip.
// back (Q, K): the weighted sum over the vectors of that clip of distances to the nearest of the query, for each of Q
// ways to ask, of which way k has the query's vectors from ways[k] to ways[k + 1].
void nearest_windows(const float* query, std::size_t windows, const std::int32_t* ways, std::size_t n_ways,
                     const WindowsOfClips& clips, const std::int64_t* chosen, std::size_t n_chosen, float* there,
                     double* back);

// From which row on, of those from `first` to `last`, `rows` (N, D) are nearest to a `piece` (M, D) of as many rows, and
// the mean square of the distances there. Of equal places the first.
struct Place {
    std::size_t at;
    double square;
};
Place nearest_place(const double* rows, const double* piece, std::size_t length, std::size_t dimensions,
                    std::size_t first, std::size_t last);

}  // namespace keypose
