// Moves keys towards the least-squares optimum of the interpolated rotations, with every frame within a tolerance.
#pragma once
#include <cstddef>
#include <vector>

#include "quaternions.hpp"

namespace keypose {

struct AdjustableKey {
    std::size_t frame;
    Q rotation;
    bool fixed;  // it is an end of a swing and is not moved
};

// rotations: (frames, 4) unit wxyz; tolerance: radians. Before the first key and after the last one, the rotation is
// constant.
void adjust_keys(const double* rotations, std::size_t frames, double tolerance, std::vector<AdjustableKey>& keys);

}  // namespace keypose
