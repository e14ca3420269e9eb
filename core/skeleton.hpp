// Kernels over clips of local poses: channels to poses, poses to world space.
#pragma once
#include <cstddef>
#include <cstdint>

namespace keypose {

// Converts rows of channels to local translations (frames, joints, 3) and rotations (frames, joints, 4). Row t of
// `channels` is frame t. For joint j, position_columns[3j + axis] is the column of that local coordinate, or -1 for the
// offset; rotation_columns[3j + k] is the column of the k-th angle in degrees, or -1, about the axis
// rotation_axes[3j + k]. Rotations are intrinsic: q = q0 q1 q2.
void poses_from_channels(const double* channels, std::size_t frames, std::size_t columns, std::size_t joints,
                         const std::int32_t* position_columns, const std::int32_t* rotation_columns,
                         const std::int32_t* rotation_axes, const double* offsets, double* translations,
                         double* rotations);

// Computes world positions (frames, joints, 3) and rotations (frames, joints, 4) of local poses. Parents come before
// their children; -1 marks a root. Rotations are unit wxyz.
void forward_kinematics(const std::int32_t* parents, const double* translations, const double* rotations,
                        std::size_t frames, std::size_t joints, double* world_positions,
                        double* world_rotations);

// Removes jumps from Euler angles (frames, joints, 3) in radians, in place; see rotations.unwrap_euler.
void unwrap_euler(double* angles, std::size_t frames, std::size_t joints);

}  // namespace keypose
