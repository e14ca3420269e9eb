#include "kps_encode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace keypose::kps {
namespace {

// Weight of a squared error, in units of the squared tolerance, against one bit; it grows for frames that others are
// predicted from.
constexpr double kErrorBits = 4, kErrorGrowth = 3;
constexpr int kRepairs = 6;     // attempts to repair frames beyond the tolerance before the steps get finer
constexpr double kWeightGrowth = 2, kCareGrowth = 3, kSuspectRatio = 0.9, kMaxBadRatio = 0.4;
constexpr double kPenalty = 1000, kPoseShare = 0.7;

V3 arm(int axis) { return {axis == 0 ? kArm : 0.0, axis == 1 ? kArm : 0.0, axis == 2 ? kArm : 0.0}; }
double max_square_of(V3 a, V3 b) { return std::max(dot(a, a), dot(b, b)); }

class Group {
public:
    Group(const Clip& clip, const Figure& figure, const Originals& originals, double tolerance_mm, double tolerance_share)
        : clip_(clip), figure_(figure), originals_(originals), tolerance_(tolerance_mm), tolerance_share_(tolerance_share), frames_(originals.frames),
          joints_(figure.joints()), tracks_(static_cast<std::size_t>(clip.tracks())), care_(frames_, 1.0),
          weights_(frames_, Weights(figure)), gains_(frames_ * tracks_), positions_(frames_ * joints_), rotations_(frames_ * joints_) {
        choice_.residuals.assign(frames_ * tracks_, 0);
        choice_.numbers.assign(frames_ * tracks_, 0);
        first_lever_.push_back(0);
        for (int joint = 0; joint < joints_; ++joint) {
            first_lever_.push_back(first_lever_.back() + 3 + figure.children[joint].size() + figure.ends[joint].size());
        }
        levers_.reserve(frames_ * first_lever_.back());
        for (int frame = 0; frame < frames_; ++frame) {
            make_gains(frame);
            make_levers(frame);
        }
    }

    // Computes the pose of frame `at` from its numbers.
    void pose_frame(int at) {
        for (int joint = 0; joint < joints_; ++joint) place_joint(at, joint);
    }

    // Chooses the numbers of one joint in one frame; `predicted` and `expected` (residual size) have an entry per
    // track.
    void choose(int at, int joint, const std::int64_t* predicted, std::int64_t units, double care, const double* expected);

    double error(int at) const;
    void repair(int at);
    void reset_repairs();

    Original original(int at) const { return originals_.at(at, joints_, tracks_); }
    std::int64_t* numbers(int at) { return choice_.numbers.data() + tracks_ * at; }
    std::int32_t* residuals(int at) { return choice_.residuals.data() + tracks_ * at; }
    double care(int at) const { return care_[at]; }
    double tolerance() const { return tolerance_; }
    Choice& choice() { return choice_; }

private:
    void make_gains(int at) { gains(clip_, figure_, original(at), weights_[at], gains_.data() + tracks_ * at); }
    void make_levers(int at);
    void place_joint(int at, int joint);
    Error inherited_error(int at, int joint) const;
    double reach(int at, int joint, const Error& error) const;
    V3 position(int at, int joint) const { return positions_[static_cast<std::size_t>(at) * joints_ + joint]; }
    Q rotation(int at, int joint) const { return rotations_[static_cast<std::size_t>(at) * joints_ + joint]; }
    template <class Visit>
    void visit_points(int at, Visit visit) const;

    const Clip& clip_;
    const Figure& figure_;
    const Originals originals_;
    const double tolerance_;
    const double tolerance_share_;  // ratio of the tolerance that a joint may use, so that its descendants have some left
    const int frames_, joints_;
    const std::size_t tracks_;
    std::vector<double> care_;
    std::vector<Weights> weights_;
    std::vector<Gain> gains_;
    std::vector<std::size_t> first_lever_;  // of each joint, and the total
    std::vector<V3> levers_;  // of each frame and joint: its three arms, then the offsets to the joints and end sites that it moves
    std::vector<V3> positions_;  // decoded, mm
    std::vector<Q> rotations_;
    Choice choice_;
};

// Computes the decoded world position and rotation of a joint.
void Group::place_joint(int at, int joint) {
    int track = clip_.layout.first_track[joint];
    const std::int64_t* n = choice_.numbers.data() + tracks_ * at;
    V3 shift = figure_.mm_per_unit * clip_.joint_positions[joint];
    if (clip_.moves[joint]) {
        shift = figure_.mm_per_unit * V3{n[track] * clip_.units[track], n[track + 1] * clip_.units[track + 1], n[track + 2] * clip_.units[track + 2]};
        track += 3;
    }
    double numbers[3] = {};
    for (int i = 0; i < clip_.charts[joint].numbers(); ++i) numbers[i] = n[track + i] * clip_.units[track + i];
    const Q local = rotation_at(clip_.charts[joint], numbers);
    const int parent = figure_.parents[joint];
    const std::size_t here = static_cast<std::size_t>(at) * joints_ + joint;
    positions_[here] = parent < 0 ? shift : position(at, parent) + rotate(rotation(at, parent), shift);
    rotations_[here] = parent < 0 ? local : rotation(at, parent) * local;
}

// The error of a joint if its own numbers were those of the original.
Error Group::inherited_error(int at, int joint) const {
    const Original o = original(at);
    const int parent = figure_.parents[joint];
    Error error;
    V3 position_ = o.translation(joint);
    if (parent >= 0) {
        const Q now = rotation(at, parent), then = o.rotation(parent);
        Q d = now * Q{then.w, -then.x, -then.y, -then.z};
        if (d.w < 0) d = {-d.w, -d.x, -d.y, -d.z};
        error.v[3] = 2 * d.x, error.v[4] = 2 * d.y, error.v[5] = 2 * d.z;
        position_ = position(at, parent) + rotate(now, position_);
    }
    if (!clip_.moves[joint]) {  // a constant translation
        const V3 shift = figure_.mm_per_unit * clip_.joint_positions[joint];
        position_ = parent < 0 ? shift : position(at, parent) + rotate(rotation(at, parent), shift);
    }
    const V3 off = position_ - o.position(joint);
    error.v[0] = off.x, error.v[1] = off.y, error.v[2] = off.z;
    return error;
}

void Group::make_levers(int at) {
    const Original o = original(at);
    for (int joint = 0; joint < joints_; ++joint) {
        for (int axis = 0; axis < 3; ++axis) levers_.push_back(rotate(o.rotation(joint), arm(axis)));
        for (const int child : figure_.children[joint]) levers_.push_back(o.position(child) - o.position(joint));
        for (const int end : figure_.ends[joint]) levers_.push_back(rotate(o.rotation(joint), figure_.end_offsets[end]));
    }
}

// The largest error among the points that a joint's rotation determines, relative to the tolerance.
double Group::reach(int at, int joint, const Error& error) const {
    const V3 place_joint{error.v[0], error.v[1], error.v[2]}, rotation{error.v[3], error.v[4], error.v[5]};
    const V3* lever = levers_.data() + at * first_lever_.back() + first_lever_[joint];
    const V3* end = levers_.data() + at * first_lever_.back() + first_lever_[joint + 1];
    double max_square = 0;
    for (int axis = 0; axis < 3; ++axis, ++lever) {
        const V3 off = cross(rotation, *lever);
        max_square = std::max(max_square, max_square_of(place_joint + off, place_joint - off));
    }
    for (; lever < end; ++lever) {
        const V3 off = place_joint + cross(rotation, *lever);
        max_square = std::max(max_square, dot(off, off));
    }
    return std::sqrt(max_square) / tolerance_;
}

// Approximate bits of a residual with the expected size `expected`: of 0, and of each step more.
struct Bits {
    double none, each;
    explicit Bits(double expected) {
        const double factor = expected / (1 + expected);
        none = -std::log2((1 - factor) / (1 + factor)), each = -std::log2(factor);
    }
};

void Group::choose(int at, int joint, const std::int64_t* predicted, std::int64_t units, double care, const double* expected) {
    const int first = clip_.layout.first_track[joint], count = clip_.layout.first_track[joint + 1] - first;
    const Error before = inherited_error(at, joint);
    const Original o = original(at);
    double none[6], each[6];
    for (int i = 0; i < count; ++i) {
        const Bits bits(expected[i]);
        none[i] = bits.none, each[i] = bits.each;
    }
    double min_cost = std::numeric_limits<double>::infinity();
    std::int64_t best[6] = {};
    // Try each number rounded to the nearest, or one closer to zero; later numbers compensate for earlier ones.
    for (int rounded_in = 0; rounded_in < 1 << count; ++rounded_in) {
        Error error = before;
        std::int64_t residual[6] = {};
        double cost = 0;
        bool is_distinct = true;
        for (int i = 0; i < count && is_distinct; ++i) {
            const int track = first + i;
            const Gain& gain = gains_[tracks_ * at + track];
            double target = o.numbers[track];
            for (int k = 0; k < 6; ++k) target += gain.response[k] * error.v[k];
            const double unit = clip_.units[track];
            const double exact_residual = (target / unit - static_cast<double>(predicted[i])) / static_cast<double>(units);
            residual[i] = static_cast<std::int64_t>(std::llrint(std::clamp(exact_residual, -1.0 * kMaxResidual, 1.0 * kMaxResidual)));
            if (rounded_in >> i & 1) {
                is_distinct = residual[i] != 0;
                residual[i] += residual[i] > 0 ? -1 : 1;
            }
            const double off = static_cast<double>(predicted[i] + units * residual[i]) * unit - o.numbers[track];
            for (int k = 0; k < 6; ++k) error.v[k] += gain.change[k] * off;
            cost += none[i] + each[i] * static_cast<double>(std::abs(residual[i]));
        }
        if (!is_distinct) continue;
        const double reached = reach(at, joint, error);
        cost += care * reached * reached + (reached > tolerance_share_ ? kPenalty * (reached - tolerance_share_) + kPenalty / 10 : 0);
        if (cost >= min_cost) continue;
        min_cost = cost;
        std::copy(residual, residual + count, best);
    }
    for (int i = 0; i < count; ++i) {
        residuals(at)[first + i] = static_cast<std::int32_t>(best[i]);
        numbers(at)[first + i] = predicted[i] + units * best[i];
    }
    place_joint(at, joint);
}

// Calls visit(joint or -1, end site or -1, squared distance) for the joints with their six points, then the end sites.
template <class Visit>
void Group::visit_points(int at, Visit visit) const {
    const Original o = original(at);
    for (int joint = 0; joint < joints_; ++joint) {
        const V3 off = position(at, joint) - o.position(joint);
        double max_square = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const V3 arm_difference = rotate(rotation(at, joint), arm(axis)) - rotate(o.rotation(joint), arm(axis));
            max_square = std::max(max_square, max_square_of(off + arm_difference, off - arm_difference));
        }
        visit(joint, -1, max_square);
        for (const int end : figure_.ends[joint]) {
            const V3 offset = figure_.end_offsets[end];
            const V3 difference = off + rotate(rotation(at, joint), offset) - rotate(o.rotation(joint), offset);
            visit(-1, end, dot(difference, difference));
        }
    }
}

double Group::error(int at) const {
    double max_square = 0;
    visit_points(at, [&](int, int, double square) { max_square = std::max(max_square, square); });
    return std::sqrt(max_square);
}

// Raises the weight of this frame's errors for the next pass, above all for the points beyond the tolerance.
void Group::repair(int at) {
    const double suspect_square = kSuspectRatio * kSuspectRatio * tolerance_ * tolerance_;
    visit_points(at, [&](int joint, int end, double square) {
        if (square > suspect_square) (joint >= 0 ? weights_[at].joints[joint] : weights_[at].ends[end]) *= kWeightGrowth;
    });
    care_[at] *= kCareGrowth;
    make_gains(at);
}

void Group::reset_repairs() {
    for (int at = 0; at < frames_; ++at) {
        if (care_[at] == 1) continue;
        care_[at] = 1;
        weights_[at] = Weights(figure_);
        make_gains(at);
    }
}

// Chooses all frames but the first at one grain; returns the largest error.
double pass(Group& group, const Clip& clip, int joints, int frames, const std::vector<Frame>& order, const std::int64_t* next, int grain) {
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    for (int joint = 0; joint < joints; ++joint) {
        const int first = clip.layout.first_track[joint], count = clip.layout.first_track[joint + 1] - first;
        for (const Frame& frame : order) {
            std::int64_t guess[6];
            double expected[6];
            for (int i = 0; i < count; ++i) {
                guess[i] = predict(frame, group.numbers(0), next, frames, tracks, first + i);
                expected[i] = frame.previous < 0 ? 0.3 : (0.3 + 2 * std::abs(static_cast<double>(group.residuals(frame.previous)[first + i]))) / 3;
            }
            const int depth = frame.level <= kCoarsest ? std::min(frame.level, 2) : 2;
            double care = kErrorBits * group.care(frame.at);
            for (int i = 0; i < depth; ++i) care *= kErrorGrowth;
            group.choose(frame.at, joint, guess, units_of(grain, frame.level), care, expected);
        }
    }
    double max_square = 0;
    for (int at = 1; at < frames; ++at) max_square = std::max(max_square, group.error(at));
    return max_square;
}

bool fits(const Group& group, const Choice& choice) {
    return std::all_of(choice.residuals.begin(), choice.residuals.end(), [](std::int32_t r) { return std::abs(static_cast<std::int64_t>(r)) < kMaxResidual; }) &&
           std::all_of(choice.numbers.begin(), choice.numbers.end(), [](std::int64_t n) { return std::abs(n) < kMaxUnits; }) &&
           choice.error_mm <= group.tolerance();
}

}  // namespace

std::vector<double> curvatures(const Clip& clip, const Figure& figure, const Originals& originals) {
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    std::vector<double> sums(tracks, 0.0);
    std::vector<Gain> is_within(tracks);
    const Weights weights(figure);
    for (int frame = 0; frame < originals.frames; ++frame) {
        gains(clip, figure, originals.at(frame, figure.joints(), tracks), weights, is_within.data());
        for (std::size_t track = 0; track < tracks; ++track) sums[track] += is_within[track].curvature;
    }
    return sums;
}

Choice choose_pose(const Clip& clip, const Figure& figure, const Originals& originals, double tolerance_mm) {
    Originals first = originals;
    first.frames = 1;
    Group group(clip, figure, first, tolerance_mm, kPoseShare);
    Choice& choice = group.choice();
    const double expected[6] = {8, 8, 8, 8, 8, 8};
    for (int grain = 24; grain >= kMinGrain; --grain) {
        for (int joint = 0; joint < figure.joints(); ++joint) {
            group.choose(0, joint, clip.centres.data() + clip.layout.first_track[joint], units_of(grain, kPose),
                         kErrorBits * kErrorGrowth * kErrorGrowth, expected);
        }
        choice.grain = grain;
        choice.error_mm = group.error(0);
        choice.is_within = fits(group, choice);
        if (choice.is_within) break;
    }
    return choice;
}

Choice choose_body(const Clip& clip, const Figure& figure, const Originals& originals, const std::int64_t* pose,
                   const std::int64_t* next, double tolerance_mm, CodingMode mode, int grain) {
    Group group(clip, figure, originals, tolerance_mm, mode.tolerance_share);
    std::copy_n(pose, clip.tracks(), group.numbers(0));
    group.pose_frame(0);
    const int frames = originals.frames;
    const std::vector<Frame> frames_in_order = schedule(frames, next != nullptr, mode.order);
    Choice best;
    const auto attempt = [&](int grain) {
        group.reset_repairs();
        Choice& choice = group.choice();
        choice.order = mode.order, choice.grain = grain;
        for (int repairs = 0;; ++repairs) {
            choice.error_mm = pass(group, clip, figure.joints(), frames, frames_in_order, next, grain);
            if (fits(group, choice)) break;
            int bad = 0;
            for (int at = 1; at < frames; ++at) bad += group.error(at) > tolerance_mm;
            if (repairs == kRepairs || bad > kMaxBadRatio * frames) return false;
            for (int at = 1; at < frames; ++at) {
                if (group.error(at) > tolerance_mm) group.repair(at);
            }
        }
        best = choice;
        return best.is_within = true;
    };
    grain = std::clamp(grain, kMinGrain, kMaxGrain);
    if (attempt(grain)) {  // coarser while within the tolerance
        while (grain + 2 <= kMaxGrain && attempt(grain + 2)) grain += 2;
    } else {
        do grain -= 3;
        while (grain >= kMinGrain && !attempt(grain));
        if (grain >= kMinGrain && attempt(grain + 2)) return best;
    }
    if (grain >= kMinGrain && grain + 1 <= kMaxGrain) attempt(grain + 1);
    return best;
}

}  // namespace keypose::kps
