// Keys of the rotations of a joint, as few as possible: between them it rotates at constant speed, and every frame is
// within a tolerance. Swings replace keys where they are within the tolerance.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

struct CandidateSwings {  // of all joints, sorted by joint, then by start
    std::size_t count;
    const std::int32_t *joints, *starts, *ends;
    const double* rotations;         // (count, 4) at the starts
    const double* rotation_vectors;  // (count, 3) axis times angle, at constant speed until the ends
};

struct KeyOptions {
    const double* tolerances;  // (joints,) radians
    double swing_cost;         // cost of a swing, as a number of keys
    std::size_t max_span;      // maximum frames between keys, to limit the time spent on joints that do not move
};

struct JointKeys {
    std::vector<std::int32_t> joints, frames;  // sorted
    std::vector<double> rotations;             // (keys, 4)
    std::vector<std::uint8_t> is_swing_used;   // (swings,)
    std::vector<double> playback;              // (frames, joints, 4)
    bool finished = true;
};

// rotations: (frames, joints, 4) local, unit wxyz. `keep_going` is called after each joint, false interrupts; it may be
// null.
JointKeys fit_joint_keys(const double* rotations, std::size_t frames, std::size_t joints, const CandidateSwings& swings,
                     const KeyOptions& options, bool (*keep_going)());

}  // namespace keypose
