#include "kps_clip.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace keypose::kps {
namespace {

constexpr double kEighths[8] = {1.0,  // 2^(i/8)
                                1.0905077326652577,
                                1.189207115002721,
                                1.2968395546510096,
                                1.4142135623730951,
                                1.5422108254079407,
                                1.681792830507429,
                                1.8340080864093424};

struct SectionHeader {
    int order;
    int grain;
};

// Reads the first byte of a section and the order, if there is one: bit 7 is set if an order follows, the other bits
// are the grain (step size) minus kMinGrain.
SectionHeader read_section_header(const std::uint8_t*& bytes, std::size_t& count, bool pose) {
    if (count == 0) throw std::runtime_error("an empty section, expected at least one byte");
    SectionHeader header{0, (*bytes & 0x7f) + kMinGrain};
    const bool has_order = *bytes & 0x80;
    ++bytes, --count;
    if (!has_order) return header;
    if (pose || count == 0 || *bytes == 0 || *bytes >= kOrders) throw std::runtime_error("the order of frames is unknown");
    header.order = *bytes;
    ++bytes, --count;
    return header;
}

std::int64_t check_range(std::int64_t number) {
    if (number > kMaxUnits || number < -kMaxUnits) throw std::runtime_error("a coded number is out of range");
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
        V3 position = joint_positions[joint];
        if (moves[joint]) {
            position = {static_cast<double>(numbers[track]) * units[track], static_cast<double>(numbers[track + 1]) * units[track + 1],
                     static_cast<double>(numbers[track + 2]) * units[track + 2]};
            track += 3;
        }
        double angles[3] = {};
        for (int i = 0; i < charts[joint].numbers(); ++i) {
            angles[i] = static_cast<double>(numbers[track + i]) * units[track + i];
            if (std::abs(angles[i]) > kMaxAngle) throw std::runtime_error("an angle is out of range");
        }
        const Q q = rotation_at(charts[joint], angles);
        double* t = translations + 3 * static_cast<std::size_t>(joint);
        double* r = rotations + 4 * static_cast<std::size_t>(joint);
        t[0] = position.x, t[1] = position.y, t[2] = position.z;
        r[0] = q.w, r[1] = q.x, r[2] = q.y, r[3] = q.z;
    }
}

void decode_pose(const Clip& clip, const std::uint8_t* bytes, std::size_t count, std::int64_t* numbers) {
    const SectionHeader header = read_section_header(bytes, count, true);
    std::vector<std::int32_t> residuals(clip.tracks());
    read_pose(clip.layout, bytes, count, residuals.data());
    const std::int64_t units = units_of(header.grain, kPose);
    for (int track = 0; track < clip.tracks(); ++track) {
        numbers[track] = check_range(clip.centres[track] + units * residuals[track]);
    }
}

void decode_body(const Clip& clip, int frames, const std::uint8_t* bytes, std::size_t count, const std::int64_t* next,
                 std::int64_t* numbers) {
    if (frames <= 1) return;
    const SectionHeader header = read_section_header(bytes, count, false);
    const std::vector<Frame> order = schedule(frames, next != nullptr, header.order);
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    std::vector<std::int32_t> residuals(tracks * frames);
    read_body(clip.layout, order, bytes, count, residuals.data());
    for (const Frame& frame : order) {
        const std::int64_t units = units_of(header.grain, frame.level);
        for (std::size_t track = 0; track < tracks; ++track) {
            const std::size_t at = tracks * frame.at + track;
            numbers[at] = check_range(predict(frame, numbers, next, frames, tracks, track) + units * residuals[at]);
        }
    }
}

}  // namespace keypose::kps
