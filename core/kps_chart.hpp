// How a joint's turn is spelled in one to three numbers, and back again. The way back is the decoder's: it uses nothing
// but sums, products, quotients and roots, which every machine rounds alike.
#pragma once

#include "space.hpp"

namespace keypose::kps {

enum class Kind : int {
    fixed = 0,    // always the same turn
    hinge = 1,    // base * exp(a * second): a turn about one axis
    pair = 2,     // exp(a * first) * base * exp(b * second): turns about two axes
    free = 3,     // base * exp(a * first + b * second + c * third), the three at right angles
    upright = 4,  // exp(a * first) * exp(b * second + c * third): the heading, then a tilt
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

// exp of a rotation vector: the turn about it by its length.
Q turn_of(V3 vector);

// The turn that the numbers stand for.
Q turn_at(const Chart& chart, const double* numbers);

// How the turn changes, in its own frame, per unit of one number: for the encoder.
V3 change_of(const Chart& chart, const double* numbers, int which);

}  // namespace keypose::kps
