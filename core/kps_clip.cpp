#include "kps_clip.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace keypose::kps {
namespace {

constexpr double kEighths[8] = {1.0,
                                1.0905077326652577,
                                1.189207115002721,
                                1.2968395546510096,
                                1.4142135623730951,
                                1.5422108254079407,
                                1.681792830507429,
                                1.8340080864093424};

struct Opening {
    int order;
    int grain;
};

// The first byte of a section: bit 7 whether an order follows, the rest how coarse the steps are.
Opening opened(const std::uint8_t*& bytes, std::size_t& count, bool pose) {
    if (count == 0) throw std::runtime_error("an empty section, expected at least one byte");
    Opening opening{0, (*bytes & 0x7f) + kLeastGrain};
    const bool onward = *bytes & 0x80;
    ++bytes, --count;
    if (!onward) return opening;
    if (pose || count == 0 || *bytes == 0 || *bytes >= kOrders) throw std::runtime_error("an unknown order of frames");
    opening.order = *bytes;
    ++bytes, --count;
    return opening;
}

std::int64_t bounded(std::int64_t number) {
    if (number > kMostUnits || number < -kMostUnits) throw std::runtime_error("a coded number is beyond all measure");
    return number;
}

}  // namespace

double power_of_eighths(int eighths) {
    const int whole = eighths >= 0 ? eighths / 8 : -((7 - eighths) / 8);
    return std::ldexp(kEighths[eighths - 8 * whole], whole);
}

std::int64_t units_of(int grain, int level) {
    const int finer = level <= kCoarsest ? std::min(level, 3) : 0;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor(kUnitsPerStep * power_of_eighths(grain - finer) + 0.5)));
}

void Clip::pose(const std::int64_t* numbers, double* translations, double* rotations) const {
    for (int joint = 0; joint < joints(); ++joint) {
        int track = layout.first_track[joint];
        V3 place = places[joint];
        if (moves[joint]) {
            place = {static_cast<double>(numbers[track]) * units[track], static_cast<double>(numbers[track + 1]) * units[track + 1],
                     static_cast<double>(numbers[track + 2]) * units[track + 2]};
            track += 3;
        }
        double turn[3] = {};
        for (int i = 0; i < charts[joint].numbers(); ++i) {
            turn[i] = static_cast<double>(numbers[track + i]) * units[track + i];
            if (std::abs(turn[i]) > kMostTurn) throw std::runtime_error("a turn beyond all measure");
        }
        const Q q = turn_at(charts[joint], turn);
        double* t = translations + 3 * static_cast<std::size_t>(joint);
        double* r = rotations + 4 * static_cast<std::size_t>(joint);
        t[0] = place.x, t[1] = place.y, t[2] = place.z;
        r[0] = q.w, r[1] = q.x, r[2] = q.y, r[3] = q.z;
    }
}

void decode_pose(const Clip& clip, const std::uint8_t* bytes, std::size_t count, std::int64_t* numbers) {
    const Opening opening = opened(bytes, count, true);
    std::vector<std::int32_t> residuals(clip.tracks());
    read_pose(clip.layout, bytes, count, residuals.data());
    const std::int64_t units = units_of(opening.grain, kPose);
    for (int track = 0; track < clip.tracks(); ++track) {
        numbers[track] = bounded(clip.centres[track] + units * residuals[track]);
    }
}

void decode_body(const Clip& clip, int frames, const std::uint8_t* bytes, std::size_t count, const std::int64_t* next,
                 std::int64_t* numbers) {
    if (frames <= 1) return;
    const Opening opening = opened(bytes, count, false);
    const std::vector<Frame> order = schedule(frames, next != nullptr, opening.order);
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    std::vector<std::int32_t> residuals(tracks * frames);
    read_body(clip.layout, order, bytes, count, residuals.data());
    for (const Frame& frame : order) {
        const std::int64_t units = units_of(opening.grain, frame.level);
        for (std::size_t track = 0; track < tracks; ++track) {
            const std::size_t at = tracks * frame.at + track;
            numbers[at] = bounded(predicted(frame, numbers, next, frames, tracks, track) + units * residuals[at]);
        }
    }
}

}  // namespace keypose::kps
