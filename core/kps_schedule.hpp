// In which order the frames of a group are coded, and from which frames each one is predicted.
#pragma once

#include <cstdint>
#include <vector>

namespace keypose::kps {

// Levels have models of their own: 0 to 7 the halvings (0 the finest), then these.
constexpr int kFinest = 0, kCoarsest = 7, kLastFrame = 8, kPose = 9, kOnward = 10, kLevels = 11;
constexpr int kWeightBits = 14;

struct Frame {
    int at = 0;     // frame of the group, from 1
    int level = 0;
    int count = 0;  // how many frames it is predicted from
    int from[4] = {};
    std::int64_t weight[4] = {};      // parts of 2^14, adding up to it
    int before = -1, before_that = -1;  // the frames of the same level coded just before, -1: none
};

// `frames`: of the group; `next`: whether the first pose of the next group is known, as frame number `frames`.
// Order 0 goes by halves: the middle of each gap between known frames, by the cubic through the two known ones on either
// side. Orders 1 and 2 go onward through time: as the last frame was, or straight on from the last two.
std::vector<Frame> schedule(int frames, bool next, int order);
constexpr int kOrders = 3;

}  // namespace keypose::kps
