// Joint swings: spans of frames in which a joint rotates about nearly one axis, after Chia 2009.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

struct SwingOptions {
    std::size_t smoothing;    // frames of the box filter of velocities
    std::size_t half_window;  // frames on both sides of a frame with which its axis is compared
    std::size_t min_frames;   // of a swing
    double rest_speed;        // radians per frame: slower frames are rest
    double threshold;         // maximum mean difference between the axes of a swing and that of its seed
    bool cosine;              // difference is 1 - cos of the angle instead of the angle
};

struct JointSpans {  // sorted by joint, then by start; ends are the last frames
    std::vector<std::int32_t> joints, starts, ends;
};

struct SwingSpans {
    JointSpans swings, rests;
    std::vector<double> rotation_vectors;  // (swings, 3): axis times angle, in the joint's own frame
    bool finished = true;
};

// rotations: (frames, joints, 4) local, wxyz. `keep_going` is called after each joint, false interrupts; it may be
// null.
SwingSpans swing_spans(const double* rotations, std::size_t frames, std::size_t joints, const SwingOptions& options,
                       bool (*keep_going)());

}  // namespace keypose
