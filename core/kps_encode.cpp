#include "kps_encode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace keypose::kps {
namespace {

// What an error counts beside a bit, in units of the tolerance squared: frames that others are predicted from count more.
constexpr double kErrorBits = 4, kErrorGrowth = 3;
constexpr int kRepairs = 6;     // attempts to mend the frames that went wrong, before the steps get finer
constexpr double kWeightGrowth = 2, kCareGrowth = 3, kSuspect = 0.9, kMostBad = 0.4;
constexpr double kFarBeyond = 1000, kKeptInPoses = 0.7;

V3 arm(int axis) { return {axis == 0 ? kArm : 0.0, axis == 1 ? kArm : 0.0, axis == 2 ? kArm : 0.0}; }
double largest(V3 a, V3 b) { return std::max(dot(a, a), dot(b, b)); }

class Group {
public:
    Group(const Clip& clip, const Figure& figure, const Originals& originals, double tolerance_mm, double kept)
        : clip_(clip), figure_(figure), originals_(originals), tolerance_(tolerance_mm), kept_(kept), frames_(originals.frames),
          joints_(figure.joints()), tracks_(static_cast<std::size_t>(clip.tracks())), care_(frames_, 1.0),
          weights_(frames_, Weights(figure)), gains_(frames_ * tracks_), positions_(frames_ * joints_), turns_(frames_ * joints_) {
        choice_.residuals.assign(frames_ * tracks_, 0);
        choice_.numbers.assign(frames_ * tracks_, 0);
        first_lever_.push_back(0);
        for (int joint = 0; joint < joints_; ++joint) {
            first_lever_.push_back(first_lever_.back() + 3 + figure.kids[joint].size() + figure.ends[joint].size());
        }
        levers_.reserve(frames_ * first_lever_.back());
        for (int frame = 0; frame < frames_; ++frame) {
            make_gains(frame);
            make_levers(frame);
        }
    }

    // Poses frame `at` from the numbers it has.
    void take(int at) {
        for (int joint = 0; joint < joints_; ++joint) place(at, joint);
    }

    // Chooses the numbers of one joint in one frame; `predicted` and `units` for its tracks.
    void choose(int at, int joint, const std::int64_t* predicted, std::int64_t units, double care, const double* expected);

    double error(int at) const;
    void mend(int at);
    void forget_mending();

    Original original(int at) const { return originals_.at(at, joints_, tracks_); }
    std::int64_t* numbers(int at) { return choice_.numbers.data() + tracks_ * at; }
    std::int32_t* residuals(int at) { return choice_.residuals.data() + tracks_ * at; }
    double care(int at) const { return care_[at]; }
    double tolerance() const { return tolerance_; }
    Choice& choice() { return choice_; }

private:
    void make_gains(int at) { gains(clip_, figure_, original(at), weights_[at], gains_.data() + tracks_ * at); }
    void make_levers(int at);
    void place(int at, int joint);
    Error error_before(int at, int joint) const;
    double reach(int at, int joint, const Error& error) const;
    V3 position(int at, int joint) const { return positions_[static_cast<std::size_t>(at) * joints_ + joint]; }
    Q turn(int at, int joint) const { return turns_[static_cast<std::size_t>(at) * joints_ + joint]; }
    template <class Visit>
    void each_point(int at, Visit visit) const;

    const Clip& clip_;
    const Figure& figure_;
    const Originals originals_;
    const double tolerance_;
    const double kept_;  // part of the tolerance that a joint may use up, so that something is left for the next ones
    const int frames_, joints_;
    const std::size_t tracks_;
    std::vector<double> care_;
    std::vector<Weights> weights_;
    std::vector<Gain> gains_;
    std::vector<std::size_t> first_lever_;  // of each joint, and one more
    std::vector<V3> levers_;  // of each frame and joint: its three arms, then from it to the joints and end sites that it moves
    std::vector<V3> positions_;  // as decoded, mm
    std::vector<Q> turns_;
    Choice choice_;
};

// The decoded joint in the world.
void Group::place(int at, int joint) {
    int track = clip_.layout.first_track[joint];
    const std::int64_t* n = choice_.numbers.data() + tracks_ * at;
    V3 shift = figure_.mm_per_unit * clip_.places[joint];
    if (clip_.moves[joint]) {
        shift = figure_.mm_per_unit * V3{n[track] * clip_.units[track], n[track + 1] * clip_.units[track + 1], n[track + 2] * clip_.units[track + 2]};
        track += 3;
    }
    double numbers[3] = {};
    for (int i = 0; i < clip_.charts[joint].numbers(); ++i) numbers[i] = n[track + i] * clip_.units[track + i];
    const Q local = turn_at(clip_.charts[joint], numbers);
    const int parent = figure_.parents[joint];
    const std::size_t here = static_cast<std::size_t>(at) * joints_ + joint;
    positions_[here] = parent < 0 ? shift : position(at, parent) + turned(turn(at, parent), shift);
    turns_[here] = parent < 0 ? local : turn(at, parent) * local;
}

// How a joint would be off if its own numbers were those of the original.
Error Group::error_before(int at, int joint) const {
    const Original o = original(at);
    const int parent = figure_.parents[joint];
    Error error;
    V3 position_ = o.translation(joint);
    if (parent >= 0) {
        const Q now = turn(at, parent), then = o.turn(parent);
        Q d = now * Q{then.w, -then.x, -then.y, -then.z};
        if (d.w < 0) d = {-d.w, -d.x, -d.y, -d.z};
        error.v[3] = 2 * d.x, error.v[4] = 2 * d.y, error.v[5] = 2 * d.z;
        position_ = position(at, parent) + turned(now, position_);
    }
    if (!clip_.moves[joint]) {  // a place that is kept as one for all frames
        const V3 shift = figure_.mm_per_unit * clip_.places[joint];
        position_ = parent < 0 ? shift : position(at, parent) + turned(turn(at, parent), shift);
    }
    const V3 off = position_ - o.position(joint);
    error.v[0] = off.x, error.v[1] = off.y, error.v[2] = off.z;
    return error;
}

void Group::make_levers(int at) {
    const Original o = original(at);
    for (int joint = 0; joint < joints_; ++joint) {
        for (int axis = 0; axis < 3; ++axis) levers_.push_back(turned(o.turn(joint), arm(axis)));
        for (const int kid : figure_.kids[joint]) levers_.push_back(o.position(kid) - o.position(joint));
        for (const int end : figure_.ends[joint]) levers_.push_back(turned(o.turn(joint), figure_.end_offsets[end]));
    }
}

// The largest error among the points that a joint's turn decides, as part of the tolerance.
double Group::reach(int at, int joint, const Error& error) const {
    const V3 place{error.v[0], error.v[1], error.v[2]}, turn{error.v[3], error.v[4], error.v[5]};
    const V3* lever = levers_.data() + at * first_lever_.back() + first_lever_[joint];
    const V3* end = levers_.data() + at * first_lever_.back() + first_lever_[joint + 1];
    double most = 0;
    for (int axis = 0; axis < 3; ++axis, ++lever) {
        const V3 off = cross(turn, *lever);
        most = std::max(most, largest(place + off, place - off));
    }
    for (; lever < end; ++lever) {
        const V3 off = place + cross(turn, *lever);
        most = std::max(most, dot(off, off));
    }
    return std::sqrt(most) / tolerance_;
}

// Bits of residuals whose size is expected to be `expected`: so many for none, so many more for each step.
struct Bits {
    double none, each;
    explicit Bits(double expected) {
        const double factor = expected / (1 + expected);
        none = -std::log2((1 - factor) / (1 + factor)), each = -std::log2(factor);
    }
};

void Group::choose(int at, int joint, const std::int64_t* predicted, std::int64_t units, double care, const double* expected) {
    const int first = clip_.layout.first_track[joint], count = clip_.layout.first_track[joint + 1] - first;
    const Error before = error_before(at, joint);
    const Original o = original(at);
    double none[6], each[6];
    for (int i = 0; i < count; ++i) {
        const Bits bits(expected[i]);
        none[i] = bits.none, each[i] = bits.each;
    }
    double least = std::numeric_limits<double>::infinity();
    std::int64_t best[6] = {};
    // Each number is rounded to the nearest, or by one less; later numbers make up for earlier ones.
    for (int shorter = 0; shorter < 1 << count; ++shorter) {
        Error error = before;
        std::int64_t residual[6] = {};
        double cost = 0;
        bool new_one = true;
        for (int i = 0; i < count && new_one; ++i) {
            const int track = first + i;
            const Gain& gain = gains_[tracks_ * at + track];
            double target = o.numbers[track];
            for (int k = 0; k < 6; ++k) target += gain.answer[k] * error.v[k];
            const double unit = clip_.units[track];
            const double wanted = (target / unit - static_cast<double>(predicted[i])) / static_cast<double>(units);
            residual[i] = static_cast<std::int64_t>(std::llrint(std::clamp(wanted, -1.0 * kMostResidual, 1.0 * kMostResidual)));
            if (shorter >> i & 1) {
                new_one = residual[i] != 0;
                residual[i] += residual[i] > 0 ? -1 : 1;
            }
            const double off = static_cast<double>(predicted[i] + units * residual[i]) * unit - o.numbers[track];
            for (int k = 0; k < 6; ++k) error.v[k] += gain.change[k] * off;
            cost += none[i] + each[i] * static_cast<double>(std::abs(residual[i]));
        }
        if (!new_one) continue;
        const double far = reach(at, joint, error);
        cost += care * far * far + (far > kept_ ? kFarBeyond * (far - kept_) + kFarBeyond / 10 : 0);
        if (cost >= least) continue;
        least = cost;
        std::copy(residual, residual + count, best);
    }
    for (int i = 0; i < count; ++i) {
        residuals(at)[first + i] = static_cast<std::int32_t>(best[i]);
        numbers(at)[first + i] = predicted[i] + units * best[i];
    }
    place(at, joint);
}

// Calls visit(joint or -1, end site or -1, distance squared) for the joints with their six points, then the end sites.
template <class Visit>
void Group::each_point(int at, Visit visit) const {
    const Original o = original(at);
    for (int joint = 0; joint < joints_; ++joint) {
        const V3 off = position(at, joint) - o.position(joint);
        double most = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const V3 beside = turned(turn(at, joint), arm(axis)) - turned(o.turn(joint), arm(axis));
            most = std::max(most, largest(off + beside, off - beside));
        }
        visit(joint, -1, most);
        for (const int end : figure_.ends[joint]) {
            const V3 offset = figure_.end_offsets[end];
            const V3 there = off + turned(turn(at, joint), offset) - turned(o.turn(joint), offset);
            visit(-1, end, dot(there, there));
        }
    }
}

double Group::error(int at) const {
    double most = 0;
    each_point(at, [&](int, int, double square) { most = std::max(most, square); });
    return std::sqrt(most);
}

// Next time this frame is chosen with more care, above all for the points that are off.
void Group::mend(int at) {
    const double suspect = kSuspect * kSuspect * tolerance_ * tolerance_;
    each_point(at, [&](int joint, int end, double square) {
        if (square > suspect) (joint >= 0 ? weights_[at].joints[joint] : weights_[at].ends[end]) *= kWeightGrowth;
    });
    care_[at] *= kCareGrowth;
    make_gains(at);
}

void Group::forget_mending() {
    for (int at = 0; at < frames_; ++at) {
        if (care_[at] == 1) continue;
        care_[at] = 1;
        weights_[at] = Weights(figure_);
        make_gains(at);
    }
}

// Chooses all frames but the first at one grain; the largest error.
double pass(Group& group, const Clip& clip, int joints, int frames, const std::vector<Frame>& order, const std::int64_t* next, int grain) {
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    for (int joint = 0; joint < joints; ++joint) {
        const int first = clip.layout.first_track[joint], count = clip.layout.first_track[joint + 1] - first;
        for (const Frame& frame : order) {
            std::int64_t guess[6];
            double expected[6];
            for (int i = 0; i < count; ++i) {
                guess[i] = predicted(frame, group.numbers(0), next, frames, tracks, first + i);
                expected[i] = frame.before < 0 ? 0.3 : (0.3 + 2 * std::abs(static_cast<double>(group.residuals(frame.before)[first + i]))) / 3;
            }
            const int depth = frame.level <= kCoarsest ? std::min(frame.level, 2) : 2;
            double care = kErrorBits * group.care(frame.at);
            for (int i = 0; i < depth; ++i) care *= kErrorGrowth;
            group.choose(frame.at, joint, guess, units_of(grain, frame.level), care, expected);
        }
    }
    double most = 0;
    for (int at = 1; at < frames; ++at) most = std::max(most, group.error(at));
    return most;
}

bool fits(const Group& group, const Choice& choice) {
    return std::all_of(choice.residuals.begin(), choice.residuals.end(), [](std::int32_t r) { return std::abs(static_cast<std::int64_t>(r)) < kMostResidual; }) &&
           std::all_of(choice.numbers.begin(), choice.numbers.end(), [](std::int64_t n) { return std::abs(n) < kMostUnits; }) &&
           choice.error_mm <= group.tolerance();
}

}  // namespace

std::vector<double> curvatures(const Clip& clip, const Figure& figure, const Originals& originals) {
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    std::vector<double> sums(tracks, 0.0);
    std::vector<Gain> found(tracks);
    const Weights weights(figure);
    for (int frame = 0; frame < originals.frames; ++frame) {
        gains(clip, figure, originals.at(frame, figure.joints(), tracks), weights, found.data());
        for (std::size_t track = 0; track < tracks; ++track) sums[track] += found[track].curvature;
    }
    return sums;
}

Choice choose_pose(const Clip& clip, const Figure& figure, const Originals& originals, double tolerance_mm) {
    Originals first = originals;
    first.frames = 1;
    Group group(clip, figure, first, tolerance_mm, kKeptInPoses);
    Choice& choice = group.choice();
    const double expected[6] = {8, 8, 8, 8, 8, 8};
    for (int grain = 24; grain >= kLeastGrain; --grain) {
        for (int joint = 0; joint < figure.joints(); ++joint) {
            group.choose(0, joint, clip.centres.data() + clip.layout.first_track[joint], units_of(grain, kPose),
                         kErrorBits * kErrorGrowth * kErrorGrowth, expected);
        }
        choice.grain = grain;
        choice.error_mm = group.error(0);
        choice.found = fits(group, choice);
        if (choice.found) break;
    }
    return choice;
}

Choice choose_body(const Clip& clip, const Figure& figure, const Originals& originals, const std::int64_t* pose,
                   const std::int64_t* next, double tolerance_mm, Manner manner, int grain) {
    Group group(clip, figure, originals, tolerance_mm, manner.kept);
    std::copy_n(pose, clip.tracks(), group.numbers(0));
    group.take(0);
    const int frames = originals.frames;
    const std::vector<Frame> frames_in_order = schedule(frames, next != nullptr, manner.order);
    Choice best;
    const auto attempt = [&](int grain) {
        group.forget_mending();
        Choice& choice = group.choice();
        choice.order = manner.order, choice.grain = grain;
        for (int repairs = 0;; ++repairs) {
            choice.error_mm = pass(group, clip, figure.joints(), frames, frames_in_order, next, grain);
            if (fits(group, choice)) break;
            int bad = 0;
            for (int at = 1; at < frames; ++at) bad += group.error(at) > tolerance_mm;
            if (repairs == kRepairs || bad > kMostBad * frames) return false;
            for (int at = 1; at < frames; ++at) {
                if (group.error(at) > tolerance_mm) group.mend(at);
            }
        }
        best = choice;
        return best.found = true;
    };
    grain = std::clamp(grain, kLeastGrain, kMostGrain);
    if (attempt(grain)) {  // coarser while that works
        while (grain + 2 <= kMostGrain && attempt(grain + 2)) grain += 2;
    } else {
        do grain -= 3;
        while (grain >= kLeastGrain && !attempt(grain));
        if (grain >= kLeastGrain && attempt(grain + 2)) return best;
    }
    if (grain >= kLeastGrain && grain + 1 <= kMostGrain) attempt(grain + 1);
    return best;
}

}  // namespace keypose::kps
