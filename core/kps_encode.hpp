// Chooses the integers of a group, so that they need few bits and every point is within the tolerance.
#pragma once

#include <cstdint>
#include <vector>

#include "kps_gains.hpp"

namespace keypose::kps {

// The original frames of a group: arrays (frames, joints, ...) and (frames, tracks); see Original.
struct Originals {
    const double* positions;
    const double* world_rotations;
    const double* translations;
    const double* numbers;
    int frames = 0;

    Original at(int frame, std::size_t joints, std::size_t tracks) const {
        const std::size_t pose = static_cast<std::size_t>(frame) * joints;
        return {positions + 3 * pose, world_rotations + 4 * pose, translations + 3 * pose, numbers + static_cast<std::size_t>(frame) * tracks};
    }
};

// How a group is coded: the order of its frames (see schedule), and the ratio of the tolerance that a joint may use. A
// smaller ratio leaves more for the descendants, a larger one needs fewer bits for the joint itself.
struct CodingMode {
    int order = 0;
    double tolerance_share = 0.65;
};

struct Choice {
    int order = 0;
    int grain = 0;
    std::vector<std::int32_t> residuals;  // (frames, tracks)
    std::vector<std::int64_t> numbers;    // (frames, tracks) as decoded
    double error_mm = 0;                  // the largest error
    bool is_within = false;               // whether the error is within the tolerance; false: no step is fine enough
};

// Returns the curvature of each track (see Gain), summed over frames.
std::vector<double> curvatures(const Clip& clip, const Figure& figure, const Originals& originals);

// Chooses the first frame of a group.
Choice choose_pose(const Clip& clip, const Figure& figure, const Originals& originals, double tolerance_mm);

// Chooses the other frames of a group. `pose`: the numbers of its first frame; `next`: those of the first frame of the
// next group, or null; `grain`: initial step size.
Choice choose_body(const Clip& clip, const Figure& figure, const Originals& originals, const std::int64_t* pose,
                   const std::int64_t* next, double tolerance_mm, CodingMode mode, int grain);

}  // namespace keypose::kps
