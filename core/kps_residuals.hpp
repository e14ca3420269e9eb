// Range coding of the residuals of predictions: the model of each integer depends on the sizes of earlier ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kps_schedule.hpp"

namespace keypose::kps {

constexpr std::int64_t kMaxResidual = 1 << 30;

// The tracks of one frame, joint by joint, with the priors of their residual sizes.
struct Layout {
    std::vector<int> first_track;   // of each joint; then the number of tracks
    std::vector<int> ancestor;      // of each joint: the nearest ancestor with tracks; -1: none
    std::vector<int> track_prior;   // of each track: 2 log2 of the expected size of its residuals
    int level_prior[kLevels] = {};  // the same for each level, relative to the finest

    int joints() const { return static_cast<int>(ancestor.size()); }
    int tracks() const { return first_track.back(); }
    bool has_tracks(int joint) const { return first_track[joint + 1] > first_track[joint]; }
};

// Throws std::runtime_error if `bytes` bytes are too few for tracks * frames numbers.
void check_count(std::size_t tracks, std::size_t frames, std::size_t bytes);

// Encode and decode the residuals (tracks) of a single frame.
std::vector<std::uint8_t> write_pose(const Layout& layout, const std::int32_t* residuals);
void read_pose(const Layout& layout, const std::uint8_t* bytes, std::size_t count, std::int32_t* residuals);

// Encode and decode the residuals (frames, tracks) of a group, except its first frame, in the order of the schedule.
std::vector<std::uint8_t> write_body(const Layout& layout, const std::vector<Frame>& order, const std::int32_t* residuals);
void read_body(const Layout& layout, const std::vector<Frame>& order, const std::uint8_t* bytes, std::size_t count,
               std::int32_t* residuals);

}  // namespace keypose::kps
