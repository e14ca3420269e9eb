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
constexpr std::size_t kBlock = 3 * kLanes;  // vectors of a query that are compared together, at most
constexpr float kFar = std::numeric_limits<float>::infinity();

// Some vectors of a query, dimension after dimension and times -2, so that adding products to the squared lengths of
// both gives squared distances; lanes beyond the query's end are infinitely far.
struct Block {
    std::size_t count, eights;
    std::vector<float> numbers;  // (D, 8 eights)
    std::vector<float> squares;  // (8 eights,)

    Block(const float* query, std::size_t first, std::size_t count, std::size_t dimensions)
        : count(count), eights((count + kLanes - 1) / kLanes), numbers(eights * kLanes * dimensions, 0.0f),
          squares(eights * kLanes, kFar) {
        for (std::size_t w = 0; w < count; ++w) {
            const float* vector = query + (first + w) * dimensions;
            float sum = 0.0f;
            for (std::size_t d = 0; d < dimensions; ++d) {
                numbers[d * eights * kLanes + w] = -2.0f * vector[d];
                sum += vector[d] * vector[d];
            }
            squares[w] = sum;
        }
    }
};

// A vector of a chosen clip.
struct Row {
    std::size_t at, clip;  // its places among all vectors, and of its clip among the chosen ones
};

// What is least of the squared distances between a block and rows: for each vector of the block and clip, and for each
// way to ask and row.
struct Least {
    float* of_clips;                 // (clips, 8 eights)
    float* of_rows;                  // (ways, rows)
    const std::size_t *from, *to;    // (ways,) which lanes of the block are whose
    std::size_t ways;
};

// So many rows at once that their sums stay in registers.
template <std::size_t Eights, std::size_t Rows>
KEYPOSE_INLINE void compare(const Block& block, const WindowsOfClips& clips, const std::vector<Row>& rows, Least least) {
    constexpr std::size_t kWidth = Eights * kLanes;
    const std::size_t dimensions = clips.dimensions;
    for (std::size_t n = 0; n < rows.size(); n += Rows) {
        const float* vectors[Rows];
        Eight sums[Rows][Eights];
        for (std::size_t r = 0; r < Rows; ++r) {
            const std::size_t at = rows[std::min(n + r, rows.size() - 1)].at;
            vectors[r] = clips.vectors + at * dimensions;
            for (std::size_t e = 0; e < Eights; ++e)
                sums[r][e] = *reinterpret_cast<const LooseEight*>(&block.squares[e * kLanes]) + clips.squares[at];
        }
        for (std::size_t d = 0; d < dimensions; ++d) {
            Eight asked[Eights];
            for (std::size_t e = 0; e < Eights; ++e)
                asked[e] = *reinterpret_cast<const LooseEight*>(&block.numbers[d * kWidth + e * kLanes]);
            for (std::size_t r = 0; r < Rows; ++r)
                for (std::size_t e = 0; e < Eights; ++e) sums[r][e] += asked[e] * vectors[r][d];
        }
        for (std::size_t r = 0; r < Rows && n + r < rows.size(); ++r) {
            for (std::size_t e = 0; e < Eights; ++e) {
                float* best = least.of_clips + rows[n + r].clip * kWidth + e * kLanes;
                const Eight before = *reinterpret_cast<const LooseEight*>(best);
                *reinterpret_cast<LooseEight*>(best) = before < sums[r][e] ? before : sums[r][e];
            }
            const float* found = reinterpret_cast<const float*>(sums[r]);
            for (std::size_t way = 0; way < least.ways; ++way) {
                float& best = least.of_rows[way * rows.size() + n + r];
                for (std::size_t w = least.from[way]; w < least.to[way]; ++w) best = std::min(best, found[w]);
            }
        }
    }
}

KEYPOSE_VECTOR
void compare_all(const Block& block, const WindowsOfClips& clips, const std::vector<Row>& rows, Least least) {
    if (block.eights == 1) return compare<1, 8>(block, clips, rows, least);
    if (block.eights == 2) return compare<2, 6>(block, clips, rows, least);
    compare<3, 4>(block, clips, rows, least);
}

float distance(float square) { return std::sqrt(std::max(square, 0.0f)); }  // below 0 by rounding is 0

KEYPOSE_VECTOR
double squares_apart(const double* a, const double* b, std::size_t n) {
    double sums[kLanes] = {};
    std::size_t k = 0;
    for (; k + kLanes <= n; k += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const double off = a[k + lane] - b[k + lane];
            sums[lane] += off * off;
        }
    for (; k < n; ++k) sums[0] += (a[k] - b[k]) * (a[k] - b[k]);
    double sum = 0.0;
    for (double each : sums) sum += each;
    return sum;
}

}  // namespace

Place nearest_place(const double* rows, const double* piece, std::size_t length, std::size_t dimensions,
                    std::size_t first, std::size_t last) {
    Place best{first, std::numeric_limits<double>::infinity()};
    for (std::size_t at = first; at <= last; ++at) {
        const double square = squares_apart(rows + at * dimensions, piece, length * dimensions);
        if (square < best.square) best = {at, square};
    }
    best.square /= static_cast<double>(length);
    return best;
}

void nearest_windows(const float* query, std::size_t windows, const std::int32_t* ways, std::size_t n_ways,
                     const WindowsOfClips& clips, const std::int64_t* chosen, std::size_t n_chosen, float* there,
                     double* back) {
    std::vector<Row> rows;
    for (std::size_t k = 0; k < n_chosen; ++k)
        for (std::int32_t n = clips.bounds[chosen[k]]; n < clips.bounds[chosen[k] + 1]; ++n)
            rows.push_back({static_cast<std::size_t>(n), k});
    std::vector<float> of_rows(n_ways * rows.size(), kFar), of_clips(n_chosen * kBlock);
    std::vector<std::size_t> from(n_ways), to(n_ways);
    for (std::size_t start = 0; start < windows; start += kBlock) {
        const Block block(query, start, std::min(kBlock, windows - start), clips.dimensions);
        const std::size_t stop = start + block.count, width = block.eights * kLanes;
        for (std::size_t way = 0; way < n_ways; ++way) {
            from[way] = std::clamp<std::size_t>(ways[way], start, stop) - start;
            to[way] = std::clamp<std::size_t>(ways[way + 1], start, stop) - start;
        }
        std::fill(of_clips.begin(), of_clips.end(), kFar);
        compare_all(block, clips, rows, {of_clips.data(), of_rows.data(), from.data(), to.data(), n_ways});
        for (std::size_t w = 0; w < block.count; ++w)
            for (std::size_t k = 0; k < n_chosen; ++k)
                there[(start + w) * n_chosen + k] = distance(of_clips[k * width + w]);
    }
    std::fill(back, back + n_ways * n_chosen, 0.0);
    for (std::size_t way = 0; way < n_ways; ++way)
        for (std::size_t n = 0; n < rows.size(); ++n)
            back[way * n_chosen + rows[n].clip] +=
                static_cast<double>(clips.weights[rows[n].at]) * distance(of_rows[way * rows.size() + n]);
}

}  // namespace keypose
