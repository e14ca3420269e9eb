// Charts: the rotation of a joint as a function of zero to three numbers. What the decoder computes uses only sums,
// products, quotients and square roots, which every machine rounds identically.
#pragma once

#include "quaternions.hpp"

namespace keypose::kps {

enum class Kind : int {
    fixed = 0,    // constant rotation
    hinge = 1,    // base * exp(a * second): rotation about one axis
    pair = 2,     // exp(a * first) * base * exp(b * second): rotations about two axes
    free = 3,     // base * exp(a * first + b * second + c * third), orthogonal axes
    upright = 4,  // exp(a * first) * exp(b * second + c * third): heading, then tilt
};

struct Chart {
    Kind kind = Kind::fixed;
    Q base;
    V3 first, second, third;

    int numbers() const {
        switch (kind) {
            case Kind::fixed: return 0;
            case Kind::hinge: return 1;
            case Kind::pair: return 2;
            default: return 3;
        }
    }
};

// Returns the exponential of a rotation vector (axis times angle).
Q rotation_of(V3 vector);

// Returns the rotation that the numbers (radians) represent.
Q rotation_at(const Chart& chart, const double* numbers);

// Returns the derivative of the rotation by one number, as a rotation vector in its own frame; only for the encoder.
V3 derivative(const Chart& chart, const double* numbers, int index);

}  // namespace keypose::kps
