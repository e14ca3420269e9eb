// How errors of a pose add up along the chains of joints, and which change of a number makes up for them best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kps_clip.hpp"

namespace keypose::kps {

constexpr double kArm = 30;  // mm: how far the six points are off their joint

// The points that a tolerance is promised for, in mm on a figure of 1.7 m.
struct Figure {
    std::vector<int> parents;
    std::vector<int> end_joints;
    std::vector<V3> end_offsets;        // mm, from their joint
    std::vector<std::vector<int>> kids; // joints that a joint moves, through joints that never turn also farther ones
    std::vector<std::vector<int>> ends; // end sites of each joint
    double mm_per_unit = 1;

    Figure(const std::int32_t* parents, int joints, const std::int32_t* end_joints, const double* end_offsets, int n_ends,
           double mm_per_unit, const Clip& clip);
    int joints() const { return static_cast<int>(parents.size()); }
};

// One frame of the original.
struct Original {
    const double* positions;     // (joints, 3) in the world, mm
    const double* turns;         // (joints, 4) in the world
    const double* translations;  // (joints, 3) from the parent, mm
    const double* numbers;       // (tracks) radians or file units

    V3 position(int joint) const { return vector_at(positions + 3 * static_cast<std::size_t>(joint)); }
    V3 translation(int joint) const { return vector_at(translations + 3 * static_cast<std::size_t>(joint)); }
    Q turn(int joint) const {
        const double* q = turns + 4 * static_cast<std::size_t>(joint);
        return {q[0], q[1], q[2], q[3]};
    }
};

// How a joint is off: its place (mm), then its turn (a rotation vector in the world).
struct Error {
    double v[6] = {};
};

// For one track in one frame: how the error changes with the number, and which change of the number is best against an
// error, given that the numbers which follow will do their best as well.
struct Gain {
    double change[6];
    double answer[6];
    double curvature;  // mm squared, summed over the points, per unit of the number squared
};

// How much each point counts: more than 1 where a first attempt went wrong.
struct Weights {
    std::vector<double> joints, ends;
    explicit Weights(const Figure& figure) : joints(figure.parents.size(), 1.0), ends(figure.end_joints.size(), 1.0) {}
};

// Gains of all tracks in one frame. A linear-quadratic problem, solved from the leaves to the roots.
void gains(const Clip& clip, const Figure& figure, const Original& original, const Weights& weights, Gain* out);

}  // namespace keypose::kps
