// Chooses the integers of a group: the fewest bits with every point within the tolerance.
#pragma once

#include <cstdint>
#include <vector>

#include "kps_gains.hpp"

namespace keypose::kps {

// The original frames of a group: (frames, joints, ...), (frames, tracks).
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

// How a group is coded: the order of its frames, and the ratio of the tolerance that a joint may use. Finer steps leave
// more of the tolerance for the descendants, coarser steps need fewer bits.
struct CodingMode {
    int order = 0;
    double tolerance_share = 0.65;
};

struct Choice {
    int order = 0;
    int grain = 0;
    std::vector<std::int32_t> residuals;  // (frames, tracks)
    std::vector<std::int64_t> numbers;    // (frames, tracks) as decoded
    double error_mm = 0;                  // the largest
    bool is_within = false;                   // false: no step is fine enough
};

// The curvatures of the tracks, summed over frames.
std::vector<double> curvatures(const Clip& clip, const Figure& figure, const Originals& originals);

// Chooses the first frame of a group.
Choice choose_pose(const Clip& clip, const Figure& figure, const Originals& originals, double tolerance_mm);

// Chooses the other frames of a group, given its first frame `pose` and that of the next group, or null. `grain`:
// initial step size.
Choice choose_body(const Clip& clip, const Figure& figure, const Originals& originals, const std::int64_t* pose,
                   const std::int64_t* next, double tolerance_mm, CodingMode mode, int grain);

}  // namespace keypose::kps
