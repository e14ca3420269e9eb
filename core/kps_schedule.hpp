// The order in which the frames of a group are coded, and the frames from which each is predicted.
#pragma once

#include <cstdint>
#include <vector>

namespace keypose::kps {

// Levels: 0 (finest) to 7 (coarsest) for frames coded by bisection, then special ones. Each level has its own models.
constexpr int kFinest = 0, kCoarsest = 7, kLastFrame = 8, kPose = 9, kInOrder = 10, kLevels = 11;
constexpr int kWeightBits = 14;

struct Frame {
    int at = 0;     // index in the group; 0, the first frame, is not scheduled
    int level = 0;
    int count = 0;  // number of frames that it is predicted from
    int from[4] = {};                 // these frames
    std::int64_t weight[4] = {};      // of these frames, in units of 2^-14, with the sum 2^14
    int previous = -1, second_previous = -1;  // the last two frames coded before it on the same level; -1: none
};

// Returns the frames of a group, except the first, in the order of coding. `frames`: their number with the first;
// `next`: whether the first frame of the next group is known, as frame `frames`. Order 0 bisects: it codes the middle of
// each gap between known frames, predicted by the cubic through the two known frames on either side. Orders 1 and 2 go
// forward in time: the prediction is a copy of the previous frame, or a linear extrapolation of the previous two.
std::vector<Frame> schedule(int frames, bool next, int order);
constexpr int kOrders = 3;

}  // namespace keypose::kps
