// Everything that decoding a clip needs besides the coded bytes, and the decoding of groups of frames to poses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kps_chart.hpp"
#include "kps_residuals.hpp"

namespace keypose::kps {

// Step sizes are powers of 2^(1/8). The numbers of a track are integer multiples of its unit, which is 1/64 of its
// step. A grain is a step size in eighths of a doubling, relative to the step of the track.
constexpr int kUnitsPerStep = 64, kMinGrain = -48, kMaxGrain = 79;
constexpr std::int64_t kMaxUnits = 1ll << 44;
constexpr double kMaxAngle = 1 << 20;  // radians; sine and cosine of larger angles have no precision

// 2^(eighths/8), rounded to a double; identical on every machine.
double power_of_eighths(int eighths);

// Returns the number of units per residual step, which is 2^(grain/8) times the step of the track; coarser levels get
// slightly finer steps.
std::int64_t units_of(int grain, int level);

struct Clip {
    std::vector<Chart> charts;           // of each joint
    std::vector<std::uint8_t> moves;     // of each joint: whether its translation has three tracks, before those of its rotation
    std::vector<V3> joint_positions;     // of each joint: its local translation in file units if it is constant
    std::vector<double> units;           // of each track: radians or file units
    std::vector<std::int64_t> centres;   // of each track, in its units: the predicted numbers of the first frame of a group
    Layout layout;

    int joints() const { return static_cast<int>(charts.size()); }
    int tracks() const { return layout.tracks(); }

    // Converts the numbers of one frame (tracks) to translations (joints, 3) and rotations (joints, 4).
    void pose(const std::int64_t* numbers, double* translations, double* rotations) const;
};

// Decodes the first frame of a group (tracks). Throws std::runtime_error on invalid bytes.
void decode_pose(const Clip& clip, const std::uint8_t* bytes, std::size_t count, std::int64_t* numbers);

// Decodes the other frames of a group into `numbers` (frames, tracks), whose first row is given. `next`: the first
// frame of the next group, or null.
void decode_body(const Clip& clip, int frames, const std::uint8_t* bytes, std::size_t count, const std::int64_t* next,
                 std::int64_t* numbers);

// Returns the prediction of a frame in one track from the `numbers` (frames, tracks) decoded so far; `next` as above.
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
