// Moves keys to the least-squares optimum of the interpolated rotations, with every frame within a tolerance.
#pragma once
#include <cstddef>
#include <vector>

#include "quaternions.hpp"

namespace keypose {

struct AdjustableKey {
    std::size_t frame;
    Q rotation;
    bool fixed;  // an end of a swing
};

// rotations: (frames, 4) unit wxyz. The first and last key hold before and after them.
void adjust_keys(const double* rotations, std::size_t frames, double tolerance, std::vector<AdjustableKey>& keys);

}  // namespace keypose
