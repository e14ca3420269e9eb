#include "windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "simd.hpp"

namespace keypose {

namespace {

typedef float Eight __attribute__((vector_size(32)));
typedef float LooseEight __attribute__((vector_size(32), aligned(4), may_alias));  // unaligned

constexpr std::size_t kLanes = 8;
constexpr std::size_t kBlock = 3 * kLanes;  // maximum number of query vectors that are compared together
constexpr float kFar = std::numeric_limits<float>::infinity();

// Some vectors of a query, stored by dimension and multiplied by -2: the sum of their products with a vector and of
// both squared lengths is the squared distance. Lanes beyond the end of the query have infinite distance.
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

// A vector of a chosen clip: its index among all vectors, and the index of its clip in clip_indices.
struct Row {
    std::size_t at, clip;
};

// Minimum squared distances between a block and rows: for each vector of the block to each clip, and for each row to
// each variant of the query.
struct Minima {
    float* of_clips;                 // (clips, 8 eights)
    float* of_rows;                  // (variants, rows)
    const std::size_t *from, *to;    // (variants,) the lanes [from, to) of the block that belong to each variant
    std::size_t variants;
};

// Updates the minima. As many rows are processed at a time as their sums fit into the registers.
template <std::size_t Eights, std::size_t Rows>
KEYPOSE_INLINE void compare(const Block& block, const ClipWindows& clips, const std::vector<Row>& rows, Minima minima) {
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
            Eight query_values[Eights];
            for (std::size_t e = 0; e < Eights; ++e)
                query_values[e] = *reinterpret_cast<const LooseEight*>(&block.numbers[d * kWidth + e * kLanes]);
            for (std::size_t r = 0; r < Rows; ++r)
                for (std::size_t e = 0; e < Eights; ++e) sums[r][e] += query_values[e] * vectors[r][d];
        }
        for (std::size_t r = 0; r < Rows && n + r < rows.size(); ++r) {
            for (std::size_t e = 0; e < Eights; ++e) {
                float* best = minima.of_clips + rows[n + r].clip * kWidth + e * kLanes;
                const Eight previous = *reinterpret_cast<const LooseEight*>(best);
                *reinterpret_cast<LooseEight*>(best) = previous < sums[r][e] ? previous : sums[r][e];
            }
            const float* squares_of_row = reinterpret_cast<const float*>(sums[r]);
            for (std::size_t variant = 0; variant < minima.variants; ++variant) {
                float& best = minima.of_rows[variant * rows.size() + n + r];
                for (std::size_t w = minima.from[variant]; w < minima.to[variant]; ++w) best = std::min(best, squares_of_row[w]);
            }
        }
    }
}

KEYPOSE_VECTOR
void compare_all(const Block& block, const ClipWindows& clips, const std::vector<Row>& rows, Minima minima) {
    if (block.eights == 1) return compare<1, 8>(block, clips, rows, minima);
    if (block.eights == 2) return compare<2, 6>(block, clips, rows, minima);
    compare<3, 4>(block, clips, rows, minima);
}

float distance(float square) { return std::sqrt(std::max(square, 0.0f)); }  // rounding may give values below 0

KEYPOSE_VECTOR
double sum_of_square_differences(const double* a, const double* b, std::size_t n) {
    double sums[kLanes] = {};
    std::size_t k = 0;
    for (; k + kLanes <= n; k += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const double difference = a[k + lane] - b[k + lane];
            sums[lane] += difference * difference;
        }
    for (; k < n; ++k) sums[0] += (a[k] - b[k]) * (a[k] - b[k]);
    double sum = 0.0;
    for (double each : sums) sum += each;
    return sum;
}

}  // namespace

Match nearest_match(const double* rows, const double* pattern, std::size_t length, std::size_t dimensions,
                    std::size_t first, std::size_t last) {
    Match best{first, std::numeric_limits<double>::infinity()};
    for (std::size_t at = first; at <= last; ++at) {
        const double square = sum_of_square_differences(rows + at * dimensions, pattern, length * dimensions);
        if (square < best.square) best = {at, square};
    }
    best.square /= static_cast<double>(length);
    return best;
}

void nearest_windows(const float* query, std::size_t windows, const std::int32_t* variants, std::size_t n_variants,
                     const ClipWindows& clips, const std::int64_t* clip_indices, std::size_t n_clips, float* forward,
                     double* backward) {
    std::vector<Row> rows;
    for (std::size_t k = 0; k < n_clips; ++k)
        for (std::int32_t n = clips.bounds[clip_indices[k]]; n < clips.bounds[clip_indices[k] + 1]; ++n)
            rows.push_back({static_cast<std::size_t>(n), k});
    std::vector<float> of_rows(n_variants * rows.size(), kFar), of_clips(n_clips * kBlock);
    std::vector<std::size_t> from(n_variants), to(n_variants);
    for (std::size_t start = 0; start < windows; start += kBlock) {
        const Block block(query, start, std::min(kBlock, windows - start), clips.dimensions);
        const std::size_t stop = start + block.count, width = block.eights * kLanes;
        for (std::size_t variant = 0; variant < n_variants; ++variant) {
            from[variant] = std::clamp<std::size_t>(variants[variant], start, stop) - start;
            to[variant] = std::clamp<std::size_t>(variants[variant + 1], start, stop) - start;
        }
        std::fill(of_clips.begin(), of_clips.end(), kFar);
        compare_all(block, clips, rows, {of_clips.data(), of_rows.data(), from.data(), to.data(), n_variants});
        for (std::size_t w = 0; w < block.count; ++w)
            for (std::size_t k = 0; k < n_clips; ++k)
                forward[(start + w) * n_clips + k] = distance(of_clips[k * width + w]);
    }
    std::fill(backward, backward + n_variants * n_clips, 0.0);
    for (std::size_t variant = 0; variant < n_variants; ++variant)
        for (std::size_t n = 0; n < rows.size(); ++n)
            backward[variant * n_clips + rows[n].clip] +=
                static_cast<double>(clips.weights[rows[n].at]) * distance(of_rows[variant * rows.size() + n]);
}

}  // namespace keypose
