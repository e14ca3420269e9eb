// The decoder's description of one clip, and decoding of a group of frames from bytes to poses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kps_chart.hpp"
#include "kps_residuals.hpp"

namespace keypose::kps {

// Step sizes are powers of 2^(1/8): the numbers of a track are integer multiples of its unit, 1/64 of its step.
constexpr int kUnitsPerStep = 64, kMinGrain = -48, kMaxGrain = 79;
constexpr std::int64_t kMaxUnits = 1ll << 44;
constexpr double kMaxAngle = 1 << 20;  // radians: beyond it sine and cosine lose all precision

// 2^(eighths/8), rounded to a double; identical on every machine.
double power_of_eighths(int eighths);

// The number of units per residual step, `grain` eighths coarser than the track's step; coarser levels get slightly
// finer steps.
std::int64_t units_of(int grain, int level);

struct Clip {
    std::vector<Chart> charts;           // of each joint
    std::vector<std::uint8_t> moves;     // of each joint: whether its translation has three tracks, which precede those of its rotation
    std::vector<V3> joint_positions;              // of each joint: its translation if it is constant
    std::vector<double> units;           // of each track: radians or file units
    std::vector<std::int64_t> centres;   // of each track, in its units: the prediction of the first frame of a group
    Layout layout;

    int joints() const { return static_cast<int>(charts.size()); }
    int tracks() const { return layout.tracks(); }

    // Converts the numbers of one frame (tracks) to translations (joints, 3) and rotations (joints, 4).
    void pose(const std::int64_t* numbers, double* translations, double* rotations) const;
};

// Decodes the first frame of a group (tracks). Throws std::runtime_error on invalid bytes.
void decode_pose(const Clip& clip, const std::uint8_t* bytes, std::size_t count, std::int64_t* numbers);

// Decodes the other frames of a group, `numbers` (frames, tracks) with the first one given; `next`: the first frame of
// the next group, or null.
void decode_body(const Clip& clip, int frames, const std::uint8_t* bytes, std::size_t count, const std::int64_t* next,
                 std::int64_t* numbers);

// The prediction of a frame in one track from the `numbers` (frames, tracks) decoded so far; `next` as above.
inline std::int64_t predict(const Frame& frame, const std::int64_t* numbers, const std::int64_t* next, int frames,
                              std::size_t tracks, std::size_t track) {
    std::int64_t sum = 1 << (kWeightBits - 1);
    for (int i = 0; i < frame.count; ++i) {
        const int from = frame.from[i];
        sum += frame.weight[i] * (from < frames ? numbers[tracks * from + track] : next[track]);
    }
    return sum >> kWeightBits;
}

}  // namespace keypose::kps
