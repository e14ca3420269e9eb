// One clip as its decoder knows it, and a group of its frames from bytes to poses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kps_chart.hpp"
#include "kps_residuals.hpp"

namespace keypose::kps {

// Steps go by eighths of a doubling: the numbers of a track are whole multiples of its unit, 1/64 of its step.
constexpr int kUnitsPerStep = 64, kLeastGrain = -48, kMostGrain = 79;
constexpr std::int64_t kMostUnits = 1ll << 44;
constexpr double kMostTurn = 1 << 20;  // radians: beyond it sine and cosine would be none

// 2^(eighths/8), rounded to a double, the same everywhere.
double power_of_eighths(int eighths);

// How many units one residual stands for, `grain` eighths coarser than a step; coarser levels are kept a little finer.
std::int64_t units_of(int grain, int level);

struct Clip {
    std::vector<Chart> charts;           // of each joint
    std::vector<std::uint8_t> moves;     // of each joint: whether its translation has tracks, three before those of its turn
    std::vector<V3> places;              // of each joint: its translation where it does not move
    std::vector<double> units;           // of each track: radians or file units
    std::vector<std::int64_t> centres;   // of each track, in its units: what the first frame of a group is predicted to be
    Layout layout;

    int joints() const { return static_cast<int>(charts.size()); }
    int tracks() const { return layout.tracks(); }

    // The numbers of one frame (tracks) as translations (joints, 3) and turns (joints, 4).
    void pose(const std::int64_t* numbers, double* translations, double* rotations) const;
};

// The first frame of a group (tracks). Throws std::runtime_error on bytes that no encoder writes.
void decode_pose(const Clip& clip, const std::uint8_t* bytes, std::size_t count, std::int64_t* numbers);

// The other frames of a group, (frames, tracks) of which the first is known; `next`: the first frame of the next group, or none.
void decode_body(const Clip& clip, int frames, const std::uint8_t* bytes, std::size_t count, const std::int64_t* next,
                 std::int64_t* numbers);

// What a frame is predicted to be in one track: `numbers` (frames, tracks) so far, `next` as above.
inline std::int64_t predicted(const Frame& frame, const std::int64_t* numbers, const std::int64_t* next, int frames,
                              std::size_t tracks, std::size_t track) {
    std::int64_t sum = 1 << (kWeightBits - 1);
    for (int i = 0; i < frame.count; ++i) {
        const int from = frame.from[i];
        sum += frame.weight[i] * (from < frames ? numbers[tracks * from + track] : next[track]);
    }
    return sum >> kWeightBits;
}

}  // namespace keypose::kps
