#include "skeleton.hpp"

#include <cmath>

#include "quaternions.hpp"

namespace keypose {
namespace {

// Returns q * (rotation about one axis), with half of the products of a general quaternion product.
Q rotate_about_axis(const Q& q, int axis, double degrees) {
    const double half = degrees * (3.14159265358979323846 / 360.0);
    const double c = std::cos(half), s = std::sin(half);
    switch (axis) {
        case 0: return {q.w * c - q.x * s, q.x * c + q.w * s, q.y * c + q.z * s, q.z * c - q.y * s};
        case 1: return {q.w * c - q.y * s, q.x * c - q.z * s, q.y * c + q.w * s, q.z * c + q.x * s};
        default: return {q.w * c - q.z * s, q.x * c + q.y * s, q.y * c - q.x * s, q.z * c + q.w * s};
    }
}

}  // namespace

void poses_from_channels(const double* channels, std::size_t frames, std::size_t columns, std::size_t joints,
                         const std::int32_t* position_columns, const std::int32_t* rotation_columns,
                         const std::int32_t* rotation_axes, const double* offsets, double* translations,
                         double* rotations) {
    for (std::size_t t = 0; t < frames; ++t) {
        const double* row = channels + t * columns;
        double* translation = translations + t * joints * 3;
        double* rotation = rotations + t * joints * 4;
        for (std::size_t j = 0; j < joints; ++j) {
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const std::int32_t column = position_columns[3 * j + axis];
                translation[3 * j + axis] = column < 0 ? offsets[3 * j + axis] : row[column];
            }
            Q q{1, 0, 0, 0};
            for (std::size_t k = 0; k < 3; ++k) {
                const std::int32_t column = rotation_columns[3 * j + k];
                if (column >= 0 && row[column] != 0) q = rotate_about_axis(q, rotation_axes[3 * j + k], row[column]);
            }
            rotation[4 * j] = q.w;
            rotation[4 * j + 1] = q.x;
            rotation[4 * j + 2] = q.y;
            rotation[4 * j + 3] = q.z;
        }
    }
}

void forward_kinematics(const std::int32_t* parents, const double* translations, const double* rotations,
                        std::size_t frames, std::size_t joints, double* world_positions,
                        double* world_rotations) {
    for (std::size_t t = 0; t < frames; ++t) {
        const double* translation = translations + t * joints * 3;
        const double* rotation = rotations + t * joints * 4;
        double* position = world_positions + t * joints * 3;
        Q* world = reinterpret_cast<Q*>(world_rotations + t * joints * 4);
        for (std::size_t j = 0; j < joints; ++j) {
            const Q local{rotation[4 * j], rotation[4 * j + 1], rotation[4 * j + 2], rotation[4 * j + 3]};
            const double* v = translation + 3 * j;
            double* p = position + 3 * j;
            if (parents[j] < 0) {
                world[j] = local;
                p[0] = v[0], p[1] = v[1], p[2] = v[2];
                continue;
            }
            const Q& q = world[parents[j]];
            const double* o = position + 3 * parents[j];
            // v + 2w (u x v) + 2 u x (u x v), with u the vector part
            const double cx = 2 * (q.y * v[2] - q.z * v[1]), cy = 2 * (q.z * v[0] - q.x * v[2]),
                         cz = 2 * (q.x * v[1] - q.y * v[0]);
            p[0] = o[0] + v[0] + q.w * cx + q.y * cz - q.z * cy;
            p[1] = o[1] + v[1] + q.w * cy + q.z * cx - q.x * cz;
            p[2] = o[2] + v[2] + q.w * cz + q.x * cy - q.y * cx;
            world[j] = q * local;
        }
    }
}

void unwrap_euler(double* angles, std::size_t frames, std::size_t joints) {
    const double pi = 3.14159265358979323846, full_turn = 2 * pi;
    for (std::size_t i = joints * 3; i < frames * joints * 3; i += 3) {
        double* current = angles + i;
        const double* previous = current - joints * 3;
        // A rotation has two triples of angles: (a, b, c) and (a + pi, pi - b, c + pi), each up to full turns.
        double same[3], other[3], same_distance = 0, other_distance = 0;
        for (int k = 0; k < 3; ++k) {
            const double mirrored = (k == 1 ? -current[k] : current[k]) + pi;
            same[k] = current[k] + full_turn * std::nearbyint((previous[k] - current[k]) / full_turn);
            other[k] = mirrored + full_turn * std::nearbyint((previous[k] - mirrored) / full_turn);
            same_distance += (same[k] - previous[k]) * (same[k] - previous[k]);
            other_distance += (other[k] - previous[k]) * (other[k] - previous[k]);
        }
        for (int k = 0; k < 3; ++k) current[k] = other_distance < same_distance ? other[k] : same[k];
    }
}

}  // namespace keypose
