// Edges whose costs are given.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "chords.hpp"
#include "team.hpp"

namespace keypose {

// The same to a search as Chords, with nothing to find out: `costs[i * reach + g - 1]` is that of the edge i -> i + g.
class Table {
public:
    Table(const double* costs, std::size_t frames, std::size_t reach, const std::vector<std::size_t>& first)
        : reach_(reach), row_blocks_(reach / block + 2), rows_(frames * reach), minima_(frames * row_blocks_) {
        for (std::size_t j = 1; j < frames; ++j) {
            for (std::size_t k = first[j]; k < j; ++k) rows_[j * reach + k + reach - j] = -costs[k * reach + j - k - 1];
            for (std::size_t k = first[j], end; k < j; k = end) {
                end = std::min(j, (k / block + 1) * block);
                minima_[j * row_blocks_ + k / block - first[j] / block] = -*std::max_element(row(j) + k, row(j) + end);
            }
        }
    }

    void prepare(Team&, unsigned) {}
    // row(j)[k] is minus the cost: the sign says that it is exact.
    const double* row(std::size_t j) const {
        return rows_.data() + static_cast<std::ptrdiff_t>(j * reach_ + reach_) - static_cast<std::ptrdiff_t>(j);
    }
    double exact(std::size_t k, std::size_t j) const { return -row(j)[k]; }
    const double* least_bounds(std::size_t j) const { return minima_.data() + j * row_blocks_; }

private:
    const std::size_t reach_, row_blocks_;
    std::vector<double> rows_, minima_;
};

}  // namespace keypose
