// Few keys of a joint's rotations, turning evenly from one to the next, that leave no frame farther off than a
// tolerance; swings that are near enough themselves stand in for keys.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

struct GoodSwings {  // of all joints, sorted by joint, then by start
    std::size_t count;
    const std::int32_t *joints, *starts, *ends;
    const double* rotations;  // (count, 4) at their starts
    const double* turns;      // (count, 3) axis times angle, made evenly until their ends
};

struct KeysRule {
    const double* tolerances;  // (joints,) radians
    double swing_cost;         // of a swing, in keys
    std::size_t longest;       // frames from one key to the next: bounds the work on still joints
};

struct JointKeys {
    std::vector<std::int32_t> joints, frames;  // sorted
    std::vector<double> rotations;             // (keys, 4)
    std::vector<std::uint8_t> kept;            // of the swings: whether it is still there
    std::vector<double> played;                // (frames, joints, 4): what keys and swings play
    bool finished = true;
};

// rotations: (frames, joints, 4) local, unit wxyz. `keep_going` is asked after each joint; it may be null.
JointKeys joint_keys(const double* rotations, std::size_t frames, std::size_t joints, const GoodSwings& swings,
                     const KeysRule& rule, bool (*keep_going)());

}  // namespace keypose
