// Improves the tangents of fitted curves to bring the world positions of the joints closer to the capture.
#pragma once
#include <cstddef>
#include <cstdint>

#include "inbetween.hpp"

namespace keypose {

struct PolishProblem {
    Clip clip;                // positions and translations in mm
    const std::uint8_t* moves = nullptr;  // (joints, 2) flags: whether translation and rotation ever change, and may be polished
    const std::int32_t* keys = nullptr;
    std::size_t n_keys = 0;
    double* out_rotation_tangents = nullptr;  // (n_keys, joints, 4) tangents per frame after each key; input and output
    double* in_rotation_tangents = nullptr;   // (n_keys, joints, 4) before each key
    double* out_translation_tangents = nullptr;  // (n_keys, joints, 3)
    double* in_translation_tangents = nullptr;   // (n_keys, joints, 3)
    double lever_mm = 0;      // an error of a rotation is measured at a point at this distance from its joint
    double length_mm = 0;     // a quaternion that is too long or too short by 1 has the cost of this distance
    double power = 2;         // exponent of the errors in the cost
    // So that curves do not jerk at keys, the frames beside them have a second target each. All are null without it.
    const double* key_targets = nullptr;  // (n_keys, 2, joints, 3) positions in the frames before and after each key
    const double* key_weights = nullptr;  // (n_keys) of the squared distances from them; 0: none
    double* key_positions = nullptr;      // (n_keys, 2, joints, 3) output: the positions of the curves in these frames
    double limit_mm = 0;      // the tangents of a span are not changed if its largest error would grow beyond this
    std::size_t rounds = 0;   // maximum number of iterations
    double* worst_mm = nullptr;  // (n_keys - 1) output: the largest error of each span
    unsigned threads = 1;
    bool (*keep_going)() = nullptr;
};

// Returns false if interrupted; the tangents are then partly improved.
bool polish(const PolishProblem& problem);

}  // namespace keypose
