// How the errors of a pose propagate along the chains of joints, and which change of a number compensates them best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kps_clip.hpp"

namespace keypose::kps {

constexpr double kArm = 30;  // mm: distance of the six points around a joint from the joint

// The points for which the tolerance holds, in mm on a figure of 1.7 m.
struct Figure {
    std::vector<int> parents;
    std::vector<int> end_joints;
    std::vector<V3> end_offsets;  // mm, in the frame of their joint
    std::vector<std::vector<int>> children;  // of each joint with tracks: its children, and those of children without rotation tracks
    std::vector<std::vector<int>> ends;      // of each joint: its end sites
    double mm_per_unit = 1;

    Figure(const std::int32_t* parents, int joints, const std::int32_t* end_joints, const double* end_offsets, int n_ends,
           double mm_per_unit, const Clip& clip);
    int joints() const { return static_cast<int>(parents.size()); }
};

// One original frame.
struct Original {
    const double* positions;        // (joints, 3) world, mm
    const double* world_rotations;  // (joints, 4) wxyz
    const double* translations;     // (joints, 3) local, mm
    const double* numbers;          // (tracks) radians or file units

    V3 position(int joint) const { return vector_at(positions + 3 * static_cast<std::size_t>(joint)); }
    V3 translation(int joint) const { return vector_at(translations + 3 * static_cast<std::size_t>(joint)); }
    Q rotation(int joint) const {
        const double* q = world_rotations + 4 * static_cast<std::size_t>(joint);
        return {q[0], q[1], q[2], q[3]};
    }
};

// The error of a joint: position (mm), then rotation (a world rotation vector).
struct Error {
    double v[6] = {};
};

// The effect of one track in one frame.
struct Gain {
    double change[6];    // the derivative of the Error of the joint by the number
    double response[6];  // its product with an Error is the optimal change of the number if the next ones are optimal, too
    double curvature;    // mm^2, summed over the points, per squared unit of the number
};

// Weights of the points: above 1 where an earlier attempt exceeded the tolerance.
struct Weights {
    std::vector<double> joints, ends;
    explicit Weights(const Figure& figure) : joints(figure.parents.size(), 1.0), ends(figure.end_joints.size(), 1.0) {}
};

// Computes the gains (tracks) in one frame: a linear-quadratic problem, solved from the leaves to the roots.
void gains(const Clip& clip, const Figure& figure, const Original& original, const Weights& weights, Gain* out);

}  // namespace keypose::kps
