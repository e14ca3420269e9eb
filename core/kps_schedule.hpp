// The order in which the frames of a group are coded, and the frames from which each is predicted.
#pragma once

#include <cstdint>
#include <vector>

namespace keypose::kps {

// Each level has its own models: 0 to 7 are the halvings (0 the finest), then these.
constexpr int kFinest = 0, kCoarsest = 7, kLastFrame = 8, kPose = 9, kInOrder = 10, kLevels = 11;
constexpr int kWeightBits = 14;

struct Frame {
    int at = 0;     // index in the group, from 1
    int level = 0;
    int count = 0;  // number of frames that it is predicted from
    int from[4] = {};
    std::int64_t weight[4] = {};      // in units of 2^-14, with the sum 2^14
    int previous = -1, second_previous = -1;  // the last two frames coded before it on the same level; -1: none
};

// `frames`: number of frames of the group; `next`: whether the first frame of the next group is known, as frame
// `frames`. Order 0 bisects: the middle of each gap between known frames, from the cubic through the two known frames
// on either side. Orders 1 and 2 go forward in time: a copy of the last frame, or a linear extrapolation of the last
// two.
std::vector<Frame> schedule(int frames, bool next, int order);
constexpr int kOrders = 3;

}  // namespace keypose::kps
