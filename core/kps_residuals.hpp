// What prediction leaves, as bytes: whole numbers through the range coder, each by how large its neighbours say it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kps_schedule.hpp"

namespace keypose::kps {

constexpr std::int64_t kMostResidual = 1 << 30;

// The numbers of one frame, joint by joint, and what is known about them before a group is read.
struct Layout {
    std::vector<int> first_track;   // of each joint, and one more: all tracks
    std::vector<int> elder;         // of each joint: the nearest ancestor with tracks, -1 none
    std::vector<int> track_prior;   // of each track: how large its residuals are, in half powers of 2
    int level_prior[kLevels] = {};  // likewise how much larger those of a level are than those of the finest

    int joints() const { return static_cast<int>(elder.size()); }
    int tracks() const { return first_track.back(); }
};

// Throws std::runtime_error if so many numbers cannot be in so few bytes.
void check_count(std::size_t tracks, std::size_t frames, std::size_t bytes);

// Residuals of one frame alone, (tracks).
std::vector<std::uint8_t> write_pose(const Layout& layout, const std::int32_t* residuals);
void read_pose(const Layout& layout, const std::uint8_t* bytes, std::size_t count, std::int32_t* residuals);

// Residuals (frames, tracks) of a group, its first frame left out; in the order of the schedule.
std::vector<std::uint8_t> write_body(const Layout& layout, const std::vector<Frame>& order, const std::int32_t* residuals);
void read_body(const Layout& layout, const std::vector<Frame>& order, const std::uint8_t* bytes, std::size_t count,
               std::int32_t* residuals);

}  // namespace keypose::kps
