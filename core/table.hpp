// Edges whose costs are given.
#pragma once
#include <cstddef>
#include <vector>

#include "band.hpp"
#include "team.hpp"

namespace keypose {

// The same to a search as Chords, with nothing to find out: `costs[i * reach + g - 1]` is that of the edge i -> i + g.
class Table {
public:
    Table(const double* costs, std::size_t frames, std::size_t reach, const std::vector<std::size_t>& first)
        : band_(frames, reach, first) {
        for (std::size_t j = 1; j < frames; ++j) {
            for (std::size_t k = first[j]; k < j; ++k) band_.row(j)[k] = -costs[k * reach + j - k - 1];
            band_.finish(j);
        }
    }

    void prepare(Team&, unsigned) {}
    const double* row(std::size_t j) const { return band_.row(j); }
    double exact(std::size_t k, std::size_t j, double) const { return -band_.row(j)[k]; }
    const double* least_bounds(std::size_t j) const { return band_.least_bounds(j); }

private:
    Band band_;
};

}  // namespace keypose
