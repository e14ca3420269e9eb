// Costs of edges that are given as a table.
#pragma once
#include <cstddef>
#include <vector>

#include "edge_band.hpp"
#include "thread_pool.hpp"

namespace keypose {

// Edge costs with the interface of Chords, all exact: `costs[i * reach + g - 1]` is the cost of the edge i -> i + g.
class EdgeTable {
public:
    EdgeTable(const double* costs, std::size_t frames, std::size_t reach, const std::vector<std::size_t>& first)
        : band_(frames, reach, first) {
        for (std::size_t j = 1; j < frames; ++j) {
            for (std::size_t k = first[j]; k < j; ++k) band_.row(j)[k] = -costs[k * reach + j - k - 1];
            band_.finish(j);
        }
    }

    void prepare(ThreadPool&, unsigned) {}
    const double* row(std::size_t j) const { return band_.row(j); }
    double exact(std::size_t k, std::size_t j, double) const { return -band_.row(j)[k]; }
    const double* min_bounds(std::size_t j) const { return band_.min_bounds(j); }

private:
    EdgeBand band_;
};

}  // namespace keypose
