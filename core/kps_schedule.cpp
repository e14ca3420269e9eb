#include "kps_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace keypose::kps {
namespace {

// Sets the weights of the polynomial through the known frames, in units of 2^-14. The weight of the nearest frame
// absorbs the rounding errors, so that the sum is exact.
void interpolate(Frame& frame, int nearest) {
    std::int64_t remaining = 1 << kWeightBits;
    for (int i = 0; i < frame.count; ++i) {
        double numerator = 1, denominator = 1;
        for (int k = 0; k < frame.count; ++k) {
            if (k == i) continue;
            numerator *= frame.at - frame.from[k];
            denominator *= frame.from[i] - frame.from[k];
        }
        frame.weight[i] = static_cast<std::int64_t>(std::floor(numerator / denominator * (1 << kWeightBits) + 0.5));
        remaining -= frame.weight[i];
    }
    frame.weight[nearest] += remaining;
}

void copy_from(Frame& frame, int from) {
    frame.count = 1;
    frame.from[0] = from;
    frame.weight[0] = 1 << kWeightBits;
}

std::vector<Frame> schedule_by_halves(int frames, bool next) {
    std::vector<Frame> order;
    int end = frames;
    if (!next) {
        end = frames - 1;
        Frame last;
        last.at = end;
        last.level = kLastFrame;
        copy_from(last, 0);
        order.push_back(last);
    }
    int stride = 1, level = 0;
    while (2 * static_cast<std::int64_t>(stride) < end) stride *= 2, ++level;
    for (; stride >= 1; stride /= 2, --level) {
        int previous = -1, second_previous = -1;
        for (std::int64_t at = stride; at < end; at += 2 * static_cast<std::int64_t>(stride)) {
            Frame frame;
            frame.at = static_cast<int>(at);
            frame.level = std::min(level, kCoarsest);
            const std::int64_t right = std::min<std::int64_t>(at + stride, end), far = at + 3 * static_cast<std::int64_t>(stride);
            int nearest = 0;
            if (at >= 3 * static_cast<std::int64_t>(stride)) frame.from[frame.count++] = static_cast<int>(at - 3 * stride), nearest = 1;
            frame.from[frame.count++] = static_cast<int>(at - stride);
            frame.from[frame.count++] = static_cast<int>(right);
            // The last known frame replaces a frame beyond it, unless it is so close to the one before it that the
            // weights would be large.
            if (far <= end || end - right >= stride) frame.from[frame.count++] = static_cast<int>(std::min<std::int64_t>(far, end));
            interpolate(frame, nearest);
            frame.previous = previous, frame.second_previous = second_previous;
            second_previous = previous, previous = frame.at;
            order.push_back(frame);
        }
    }
    return order;
}

std::vector<Frame> schedule_in_order(int frames, bool linear) {
    std::vector<Frame> order;
    for (int at = 1; at < frames; ++at) {
        Frame frame;
        frame.at = at;
        frame.level = kInOrder;
        copy_from(frame, at - 1);
        if (linear && at > 1) {
            frame.count = 2;
            frame.from[1] = at - 2;
            frame.weight[0] = 2 << kWeightBits, frame.weight[1] = -(1 << kWeightBits);
        }
        frame.previous = at > 1 ? at - 1 : -1, frame.second_previous = at > 2 ? at - 2 : -1;
        order.push_back(frame);
    }
    return order;
}

}  // namespace

std::vector<Frame> schedule(int frames, bool next, int order) {
    if (frames <= 1) return {};
    return order == 0 ? schedule_by_halves(frames, next) : schedule_in_order(frames, order == 2);
}

}  // namespace keypose::kps
