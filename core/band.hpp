// Costs of edges between frames that are at most `reach` apart, as a search wants them: by the frame in which they end.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "chords.hpp"
#include "pages.hpp"

namespace keypose {

class Band {
public:
    Band(std::size_t frames, std::size_t reach, const std::vector<std::size_t>& first)
        : reach_(reach), row_blocks_(reach / block + 2), first_(first), rows_(frames * reach),
          minima_(frames * row_blocks_) {}

    std::size_t first(std::size_t j) const { return first_[j]; }
    // row(j)[k] is the cost of the edge k -> j, but for its sign, which says that it is exact; else it is a lower bound.
    double* row(std::size_t j) { return rows_.get() + offset(j); }
    const double* row(std::size_t j) const { return rows_.get() + offset(j); }
    // The least of the edges to j from the frames of each block, from that of first(j) on.
    const double* least_bounds(std::size_t j) const { return minima_.data() + j * row_blocks_; }

    // Once the row of j is there.
    void finish(std::size_t j) {
        const double* made = row(j);
        for (std::size_t k = first_[j], end; k < j; k = end) {
            end = std::min(j, (k / block + 1) * block);
            double least = std::fabs(made[k]);
            for (std::size_t i = k + 1; i < end; ++i) least = std::min(least, std::fabs(made[i]));
            minima_[j * row_blocks_ + k / block - first_[j] / block] = least;
        }
    }

private:
    std::ptrdiff_t offset(std::size_t j) const {
        return static_cast<std::ptrdiff_t>(j * reach_ + reach_) - static_cast<std::ptrdiff_t>(j);
    }
    const std::size_t reach_, row_blocks_;
    const std::vector<std::size_t>& first_;
    Pages<double> rows_;
    std::vector<double> minima_;
};

}  // namespace keypose
