// Improves the tangents of fitted curves until the joints are closest to their original positions.
#pragma once
#include <cstddef>
#include <cstdint>

#include "inbetween.hpp"

namespace keypose {

struct PolishProblem {
    Clip clip;                     // positions and translations in mm
    const std::int32_t* keys = nullptr;
    std::size_t n_keys = 0;
    double* out_rotation_tangents = nullptr;  // (n_keys, joints, 4) tangents per frame after each key; input and output
    double* in_rotation_tangents = nullptr;
    double* out_translation_tangents = nullptr;  // (n_keys, joints, 3)
    double* in_translation_tangents = nullptr;
    double lever_mm = 0;      // a rotation error counts as the error of a point at this distance from its joint
    double length_mm = 0;     // a quaternion length error of 1 counts as this distance
    double power = 2;         // exponent of the errors in the cost
    double limit_mm = 0;      // a span whose largest error grows beyond this keeps its tangents
    std::size_t rounds = 0;
    double* worst_mm = nullptr;  // (n_keys - 1) output: the largest error of each span
    unsigned threads = 1;
    bool (*keep_going)() = nullptr;
};

// Returns false if interrupted; the tangents are then partly improved.
bool polish(const PolishProblem& problem);

}  // namespace keypose
