// Chooses the whole numbers of a group: as few bits as hold every point within the tolerance.
#pragma once

#include <cstdint>
#include <vector>

#include "kps_gains.hpp"

namespace keypose::kps {

// The frames of a group as they were: (frames, joints, ...), (frames, tracks).
struct Originals {
    const double* positions;
    const double* turns;
    const double* translations;
    const double* numbers;
    int frames = 0;

    Original at(int frame, std::size_t joints, std::size_t tracks) const {
        const std::size_t pose = static_cast<std::size_t>(frame) * joints;
        return {positions + 3 * pose, turns + 4 * pose, translations + 3 * pose, numbers + static_cast<std::size_t>(frame) * tracks};
    }
};

// How a group is coded: the order of its frames, and which part of the tolerance a joint may use up by itself. Fine steps
// leave the next joints more room, coarse ones need fewer residuals.
struct Manner {
    int order = 0;
    double kept = 0.65;
};

struct Choice {
    int order = 0;
    int grain = 0;
    std::vector<std::int32_t> residuals;  // (frames, tracks)
    std::vector<std::int64_t> numbers;    // (frames, tracks) as the decoder will have them
    double error_mm = 0;                  // the largest
    bool found = false;                   // false: no steps are fine enough
};

// Curvatures of the tracks, summed over frames.
std::vector<double> curvatures(const Clip& clip, const Figure& figure, const Originals& originals);

// The first frame of a group.
Choice choose_pose(const Clip& clip, const Figure& figure, const Originals& originals, double tolerance_mm);

// All frames of a group whose first pose is known, as is the first of the next group if there is one. `grain`: where to begin.
Choice choose_body(const Clip& clip, const Figure& figure, const Originals& originals, const std::int64_t* pose,
                   const std::int64_t* next, double tolerance_mm, Manner manner, int grain);

}  // namespace keypose::kps
