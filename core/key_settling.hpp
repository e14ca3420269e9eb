// Keys moved to where the turns between them come closest to all frames, in squares, none leaving a tolerance.
#pragma once
#include <cstddef>
#include <vector>

#include "space.hpp"

namespace keypose {

struct SettlingKey {
    std::size_t frame;
    Q rotation;
    bool fixed;  // an end of a swing
};

// rotations: (frames, 4) unit wxyz. Before the first and after the last key these hold.
void settle_keys(const double* rotations, std::size_t frames, double tolerance, std::vector<SettlingKey>& keys);

}  // namespace keypose
