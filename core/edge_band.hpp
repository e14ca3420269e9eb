// Costs of the edges between frames at most `reach` apart, stored by the frame in which they end.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "chords.hpp"
#include "uninitialized_array.hpp"

namespace keypose {

class EdgeBand {
public:
    EdgeBand(std::size_t frames, std::size_t reach, const std::vector<std::size_t>& first)
        : reach_(reach), row_blocks_(reach / block + 2), first_(first), rows_(frames * reach),
          minima_(frames * row_blocks_) {}

    std::size_t first(std::size_t j) const { return first_[j]; }
    // |row(j)[k]| is the cost of the edge k -> j if the sign is negative (exact), else a lower bound of it.
    double* row(std::size_t j) { return rows_.get() + offset(j); }
    const double* row(std::size_t j) const { return rows_.get() + offset(j); }
    // The minimum over the edges to j from each block of frames, starting with the block of first(j).
    const double* min_bounds(std::size_t j) const { return minima_.data() + j * row_blocks_; }

    // Computes the block minima of row j; call it when the row is complete.
    void finish(std::size_t j) {
        const double* costs = row(j);
        for (std::size_t k = first_[j], end; k < j; k = end) {
            end = std::min(j, (k / block + 1) * block);
            double minimum = std::fabs(costs[k]);
            for (std::size_t i = k + 1; i < end; ++i) minimum = std::min(minimum, std::fabs(costs[i]));
            minima_[j * row_blocks_ + k / block - first_[j] / block] = minimum;
        }
    }

private:
    std::ptrdiff_t offset(std::size_t j) const {
        return static_cast<std::ptrdiff_t>(j * reach_ + reach_) - static_cast<std::ptrdiff_t>(j);
    }
    const std::size_t reach_, row_blocks_;
    const std::vector<std::size_t>& first_;
    UninitializedArray<double> rows_;
    std::vector<double> minima_;
};

}  // namespace keypose
