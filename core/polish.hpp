// Slopes of fitted curves, polished until the joints come closest to where they were.
#pragma once
#include <cstddef>
#include <cstdint>

#include "inbetween.hpp"

namespace keypose {

struct PolishProblem {
    Clip clip;                     // positions and translations in mm
    const std::int32_t* keys = nullptr;
    std::size_t n_keys = 0;
    double* leaving_turns = nullptr;  // (n_keys, joints, 4) slopes per frame just after each key, in and out
    double* arriving_turns = nullptr;
    double* leaving_shifts = nullptr;  // (n_keys, joints, 3)
    double* arriving_shifts = nullptr;
    double lever_mm = 0;      // a turn that is off counts as a point so far away from its joint
    double length_mm = 0;     // a quaternion whose length is off by 1 counts as a point so far away
    double power = 2;         // errors count by this power
    double limit_mm = 0;      // a span whose largest error is above this and grows stays as it was
    std::size_t rounds = 0;
    double* worst_mm = nullptr;  // (n_keys - 1) out: the largest error of each span
    unsigned threads = 1;
    bool (*keep_going)() = nullptr;
};

// False if stopped; the slopes are then as far as it came.
bool polish(const PolishProblem& problem);

}  // namespace keypose
