#include "windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "vector.hpp"

namespace keypose {

namespace {

typedef float Eight __attribute__((vector_size(32)));
typedef float LooseEight __attribute__((vector_size(32), aligned(4), may_alias));  // anywhere among floats

constexpr std::size_t kLanes = 8;
constexpr std::size_t kEights = 3;               // vectors of a query that are compared together: 3 x 8
constexpr std::size_t kBlock = kEights * kLanes;
constexpr std::size_t kRows = 4;                 // with so many of a clip: as many sums as there are registers for
constexpr float kFar = std::numeric_limits<float>::infinity();

// Blocks of the query, each dimension after dimension and times -2, so that adding products to the squared lengths of
// both gives squared distances; lanes beyond the query's end are infinitely far.
struct Blocks {
    std::vector<float> numbers;  // (blocks, D, kBlock)
    std::vector<float> squares;  // (blocks, kBlock)

    Blocks(const float* query, std::size_t windows, std::size_t dimensions)
        : numbers((windows + kBlock - 1) / kBlock * kBlock * dimensions, 0.0f),
          squares((windows + kBlock - 1) / kBlock * kBlock, kFar) {
        for (std::size_t w = 0; w < windows; ++w) {
            float* column = numbers.data() + w / kBlock * kBlock * dimensions + w % kBlock;
            const float* vector = query + w * dimensions;
            float sum = 0.0f;
            for (std::size_t d = 0; d < dimensions; ++d) {
                column[d * kBlock] = -2.0f * vector[d];
                sum += vector[d] * vector[d];
            }
            squares[w] = sum;
        }
    }
};

KEYPOSE_INLINE Eight lesser(Eight a, Eight b) { return a < b ? a : b; }

float distance(float square) { return std::sqrt(std::max(square, 0.0f)); }  // below 0 by rounding is 0

}  // namespace

KEYPOSE_VECTOR
void nearest_windows(const float* query, std::size_t windows, const std::int32_t* ways, std::size_t n_ways,
                     const WindowsOfClips& clips, const std::int64_t* chosen, std::size_t n_chosen, float* there,
                     double* back) {
    const std::size_t dimensions = clips.dimensions;
    const Blocks blocks(query, windows, dimensions);
    std::vector<float> nearest;  // (n_ways, vectors of a clip)
    for (std::size_t k = 0; k < n_chosen; ++k) {
        const std::size_t first = clips.bounds[chosen[k]], stop = clips.bounds[chosen[k] + 1], count = stop - first;
        nearest.assign(n_ways * count, kFar);
        for (std::size_t start = 0; start < windows; start += kBlock) {
            const float* numbers = blocks.numbers.data() + start * dimensions;
            const float* squares = blocks.squares.data() + start;
            const std::size_t lanes = std::min(kBlock, windows - start);
            Eight least[kEights];
            for (Eight& each : least) each = Eight{} + kFar;
            for (std::size_t n = first; n < stop; n += kRows) {
                const float* rows[kRows];
                Eight sums[kRows][kEights];
                for (std::size_t r = 0; r < kRows; ++r) {
                    const std::size_t at = std::min(n + r, stop - 1);  // the last one again does no harm
                    rows[r] = clips.vectors + at * dimensions;
                    for (std::size_t e = 0; e < kEights; ++e)
                        sums[r][e] = *reinterpret_cast<const LooseEight*>(squares + e * kLanes) + clips.squares[at];
                }
                for (std::size_t d = 0; d < dimensions; ++d) {
                    Eight asked[kEights];
                    for (std::size_t e = 0; e < kEights; ++e)
                        asked[e] = *reinterpret_cast<const LooseEight*>(numbers + d * kBlock + e * kLanes);
                    for (std::size_t r = 0; r < kRows; ++r)
                        for (std::size_t e = 0; e < kEights; ++e) sums[r][e] += asked[e] * rows[r][d];
                }
                for (std::size_t r = 0; r < kRows && n + r < stop; ++r) {
                    for (std::size_t e = 0; e < kEights; ++e) least[e] = lesser(least[e], sums[r][e]);
                    const float* found = reinterpret_cast<const float*>(sums[r]);
                    for (std::size_t way = 0; way < n_ways; ++way) {
                        float& best = nearest[way * count + n + r - first];
                        const std::size_t from = std::max<std::size_t>(ways[way], start) - start;
                        const std::size_t to = std::min<std::size_t>(ways[way + 1], start + lanes);
                        for (std::size_t w = from; w + start < to; ++w) best = std::min(best, found[w]);
                    }
                }
            }
            const float* found = reinterpret_cast<const float*>(least);
            for (std::size_t w = 0; w < lanes; ++w) there[(start + w) * n_chosen + k] = distance(found[w]);
        }
        for (std::size_t way = 0; way < n_ways; ++way) {
            double sum = 0.0;
            for (std::size_t n = 0; n < count; ++n)
                sum += static_cast<double>(clips.weights[first + n]) * distance(nearest[way * count + n]);
            back[way * n_chosen + k] = sum;
        }
    }
}

}  // namespace keypose
