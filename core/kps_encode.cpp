#include "kps_encode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace keypose::kps {
namespace {

// Cost, in bits, of an error as large as the tolerance; it is multiplied by kErrorGrowth once for level 1 and twice for
// the coarser levels, as other frames are predicted from these.
constexpr double kErrorBits = 4, kErrorGrowth = 3;
// Frames beyond the tolerance are repaired: their errors get more weight and all frames are chosen again.
constexpr int kMaxRepairs = 6;           // attempts before the steps become finer
constexpr double kMaxBadRatio = 0.4;     // of frames beyond the tolerance: with more, the steps become finer at once
constexpr double kSuspectRatio = 0.9;    // of the tolerance: points with larger errors get more weight
constexpr double kWeightGrowth = 2, kFrameWeightGrowth = 3;  // of these points, of the frame
constexpr double kPenalty = 1000;        // bits for an error beyond the share of the tolerance that a joint may use
constexpr double kPoseShare = 0.7;       // this share in the first frame of a group

V3 arm(int axis) { return {axis == 0 ? kArm : 0.0, axis == 1 ? kArm : 0.0, axis == 2 ? kArm : 0.0}; }
double max_square_of(V3 a, V3 b) { return std::max(dot(a, a), dot(b, b)); }

// One group of frames while its numbers are chosen.
class Group {
public:
    Group(const Clip& clip, const Figure& figure, const Originals& originals, double tolerance_mm, double tolerance_share)
        : clip_(clip), figure_(figure), originals_(originals), tolerance_(tolerance_mm), tolerance_share_(tolerance_share), frames_(originals.frames),
          joints_(figure.joints()), tracks_(static_cast<std::size_t>(clip.tracks())), error_weights_(frames_, 1.0),
          weights_(frames_, Weights(figure)), gains_(frames_ * tracks_), positions_(frames_ * joints_), rotations_(frames_ * joints_) {
        choice_.residuals.assign(frames_ * tracks_, 0);
        choice_.numbers.assign(frames_ * tracks_, 0);
        first_offset_.push_back(0);
        for (int joint = 0; joint < joints_; ++joint) {
            const std::size_t points = 3 + figure.children[joint].size() + figure.ends[joint].size();
            first_offset_.push_back(first_offset_.back() + (clip.layout.has_tracks(joint) ? points : 0));
        }
        offsets_.reserve(frames_ * first_offset_.back());
        for (int frame = 0; frame < frames_; ++frame) {
            make_gains(frame);
            make_offsets(frame);
        }
    }

    // Computes the pose of frame `at` from its numbers.
    void pose_frame(int at) {
        for (int joint = 0; joint < joints_; ++joint) place_joint(at, joint);
    }

    // Chooses the numbers of one joint in one frame. `predicted` (numbers) and `expected` (sizes of residuals) have one
    // entry for each track of the joint.
    void choose(int at, int joint, const std::int64_t* predicted, std::int64_t units, double error_weight, const double* expected);

    // The largest error of the points in frame `at`, mm.
    double error(int at) const;
    void repair(int at);
    void reset_repairs();

    Original original(int at) const { return originals_.at(at, joints_, tracks_); }
    std::int64_t* numbers(int at) { return choice_.numbers.data() + tracks_ * at; }
    std::int32_t* residuals(int at) { return choice_.residuals.data() + tracks_ * at; }
    double error_weight(int at) const { return error_weights_[at]; }
    double tolerance() const { return tolerance_; }
    Choice& choice() { return choice_; }

private:
    void make_gains(int at) { gains(clip_, figure_, original(at), weights_[at], gains_.data() + tracks_ * at); }
    void make_offsets(int at);
    void place_joint(int at, int joint);
    Error inherited_error(int at, int joint) const;
    double max_relative_error(int at, int joint, const Error& error) const;
    V3 position(int at, int joint) const { return positions_[static_cast<std::size_t>(at) * joints_ + joint]; }
    Q rotation(int at, int joint) const { return rotations_[static_cast<std::size_t>(at) * joints_ + joint]; }
    template <class Visit>
    void visit_points(int at, Visit visit) const;

    const Clip& clip_;
    const Figure& figure_;
    const Originals originals_;
    const double tolerance_;
    const double tolerance_share_;  // ratio of the tolerance that a joint may use; the rest is for its descendants
    const int frames_, joints_;
    const std::size_t tracks_;
    std::vector<double> error_weights_;
    std::vector<Weights> weights_;
    std::vector<Gain> gains_;
    std::vector<std::size_t> first_offset_;  // of each joint: the index of its first offset in a frame; then their number
    std::vector<V3> offsets_;    // of each frame and joint with tracks: its three arms, then to the joints and end sites that it moves; mm
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

// The error that a joint would have with the numbers of the original, from the decoded poses of its ancestors.
Error Group::inherited_error(int at, int joint) const {
    const Original o = original(at);
    const int parent = figure_.parents[joint];
    Error error;
    V3 decoded = o.translation(joint);
    if (parent >= 0) {
        const Q q = rotation(at, parent), target = o.rotation(parent);
        Q d = q * Q{target.w, -target.x, -target.y, -target.z};
        if (d.w < 0) d = {-d.w, -d.x, -d.y, -d.z};
        error.v[3] = 2 * d.x, error.v[4] = 2 * d.y, error.v[5] = 2 * d.z;
        decoded = position(at, parent) + rotate(q, decoded);
    }
    if (!clip_.moves[joint]) {  // a constant translation
        const V3 shift = figure_.mm_per_unit * clip_.joint_positions[joint];
        decoded = parent < 0 ? shift : position(at, parent) + rotate(rotation(at, parent), shift);
    }
    const V3 off = decoded - o.position(joint);
    error.v[0] = off.x, error.v[1] = off.y, error.v[2] = off.z;
    return error;
}

void Group::make_offsets(int at) {
    const Original o = original(at);
    for (int joint = 0; joint < joints_; ++joint) {
        if (!clip_.layout.has_tracks(joint)) continue;
        for (int axis = 0; axis < 3; ++axis) offsets_.push_back(rotate(o.rotation(joint), arm(axis)));
        for (const int child : figure_.children[joint]) offsets_.push_back(o.position(child) - o.position(joint));
        for (const int end : figure_.ends[joint]) offsets_.push_back(rotate(o.rotation(joint), figure_.end_offsets[end]));
    }
}

// The largest error, relative to the tolerance, of the points that move with a joint that has the given error.
double Group::max_relative_error(int at, int joint, const Error& error) const {
    const V3 translation{error.v[0], error.v[1], error.v[2]}, rotation{error.v[3], error.v[4], error.v[5]};
    const V3* at_offset = offsets_.data() + at * first_offset_.back() + first_offset_[joint];
    const V3* end = offsets_.data() + at * first_offset_.back() + first_offset_[joint + 1];
    double max_square = 0;
    for (int axis = 0; axis < 3; ++axis, ++at_offset) {
        const V3 off = cross(rotation, *at_offset);
        max_square = std::max(max_square, max_square_of(translation + off, translation - off));
    }
    for (; at_offset < end; ++at_offset) {
        const V3 off = translation + cross(rotation, *at_offset);
        max_square = std::max(max_square, dot(off, off));
    }
    return std::sqrt(max_square) / tolerance_;
}

// Approximate size of a residual in bits, from its expected magnitude: that of 0, and the increase with each step.
struct Bits {
    double zero, per_step;
    explicit Bits(double expected) {
        const double factor = expected / (1 + expected);
        zero = -std::log2((1 - factor) / (1 + factor)), per_step = -std::log2(factor);
    }
};

void Group::choose(int at, int joint, const std::int64_t* predicted, std::int64_t units, double error_weight, const double* expected) {
    if (!clip_.layout.has_tracks(joint)) return place_joint(at, joint);
    const int first = clip_.layout.first_track[joint], count = clip_.layout.first_track[joint + 1] - first;
    const Error before = inherited_error(at, joint);
    const Original o = original(at);
    double zero_bits[6], step_bits[6];
    for (int i = 0; i < count; ++i) {
        const Bits bits(expected[i]);
        zero_bits[i] = bits.zero, step_bits[i] = bits.per_step;
    }
    double min_cost = std::numeric_limits<double>::infinity();
    std::int64_t best[6] = {};
    // Try all combinations: bit i is set if residual i is one closer to zero than the nearest integer. Later numbers
    // compensate for the errors of earlier ones.
    for (int towards_zero = 0; towards_zero < 1 << count; ++towards_zero) {
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
            residual[i] = std::isnan(exact_residual) ? 0 : std::llrint(std::clamp(exact_residual, -1.0 * kMaxResidual, 1.0 * kMaxResidual));
            if (towards_zero >> i & 1) {
                is_distinct = residual[i] != 0;
                residual[i] += residual[i] > 0 ? -1 : 1;
            }
            const double off = static_cast<double>(predicted[i] + units * residual[i]) * unit - o.numbers[track];
            for (int k = 0; k < 6; ++k) error.v[k] += gain.change[k] * off;
            cost += zero_bits[i] + step_bits[i] * static_cast<double>(std::abs(residual[i]));
        }
        if (!is_distinct) continue;
        const double relative_error = max_relative_error(at, joint, error);
        cost += error_weight * relative_error * relative_error + (relative_error > tolerance_share_ ? kPenalty * (relative_error - tolerance_share_) + kPenalty / 10 : 0);
        if (cost >= min_cost) continue;
        min_cost = cost;
        std::copy(residual, residual + count, best);
    }
    for (int i = 0; i < count; ++i) {
        residuals(at)[first + i] = static_cast<std::int32_t>(best[i]);
        numbers(at)[first + i] = std::clamp(predicted[i] + units * best[i], -kMaxUnits, kMaxUnits);  // at the limits the choice does not fit
    }
    place_joint(at, joint);
}

// Calls visit(joint, -1, largest squared distance of its six points) for each joint and visit(-1, end site, squared
// distance) for each end site; mm^2.
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

// Raises the weight of the errors of this frame for the next pass, more for the points beyond the tolerance.
void Group::repair(int at) {
    const double suspect_square = kSuspectRatio * kSuspectRatio * tolerance_ * tolerance_;
    visit_points(at, [&](int joint, int end, double square) {
        if (square > suspect_square) (joint >= 0 ? weights_[at].joints[joint] : weights_[at].ends[end]) *= kWeightGrowth;
    });
    error_weights_[at] *= kFrameWeightGrowth;
    make_gains(at);
}

void Group::reset_repairs() {
    for (int at = 0; at < frames_; ++at) {
        if (error_weights_[at] == 1) continue;
        error_weights_[at] = 1;
        weights_[at] = Weights(figure_);
        make_gains(at);
    }
}

// Chooses all frames but the first with one step size; returns the largest error in mm.
double pass(Group& group, const Clip& clip, int joints, int frames, const std::vector<Frame>& order, const std::int64_t* next, int grain) {
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    for (int joint = 0; joint < joints; ++joint) {
        const int first = clip.layout.first_track[joint], count = clip.layout.first_track[joint + 1] - first;
        for (const Frame& frame : order) {
            std::int64_t predicted[6];
            double expected[6];
            for (int i = 0; i < count; ++i) {
                predicted[i] = predict(frame, group.numbers(0), next, frames, tracks, first + i);
                expected[i] = frame.previous < 0 ? 0.3 : (0.3 + 2 * std::abs(static_cast<double>(group.residuals(frame.previous)[first + i]))) / 3;
            }
            const int depth = frame.level <= kCoarsest ? std::min(frame.level, 2) : 2;
            double error_weight = kErrorBits * group.error_weight(frame.at);
            for (int i = 0; i < depth; ++i) error_weight *= kErrorGrowth;
            group.choose(frame.at, joint, predicted, units_of(grain, frame.level), error_weight, expected);
        }
    }
    double max_square = 0;
    for (int at = 1; at < frames; ++at) max_square = std::max(max_square, group.error(at));
    return max_square;
}

// Whether all integers are in range and the error is within the tolerance.
bool fits(const Group& group, const Choice& choice) {
    return std::all_of(choice.residuals.begin(), choice.residuals.end(), [](std::int32_t r) { return std::abs(static_cast<std::int64_t>(r)) < kMaxResidual; }) &&
           std::all_of(choice.numbers.begin(), choice.numbers.end(), [](std::int64_t n) { return std::abs(n) < kMaxUnits; }) &&
           choice.error_mm <= group.tolerance();
}

}  // namespace

std::vector<double> curvatures(const Clip& clip, const Figure& figure, const Originals& originals) {
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    std::vector<double> sums(tracks, 0.0);
    std::vector<Gain> frame_gains(tracks);
    const Weights weights(figure);
    for (int frame = 0; frame < originals.frames; ++frame) {
        gains(clip, figure, originals.at(frame, figure.joints(), tracks), weights, frame_gains.data());
        for (std::size_t track = 0; track < tracks; ++track) sums[track] += frame_gains[track].curvature;
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
    const std::vector<Frame> coding_order = schedule(frames, next != nullptr, mode.order);
    Choice best;
    const auto attempt = [&](int grain) {
        group.reset_repairs();
        Choice& choice = group.choice();
        choice.order = mode.order, choice.grain = grain;
        for (int repairs = 0;; ++repairs) {
            choice.error_mm = pass(group, clip, figure.joints(), frames, coding_order, next, grain);
            if (fits(group, choice)) break;
            int bad = 0;
            for (int at = 1; at < frames; ++at) bad += group.error(at) > tolerance_mm;
            if (repairs == kMaxRepairs || bad > kMaxBadRatio * frames) return false;
            for (int at = 1; at < frames; ++at) {
                if (group.error(at) > tolerance_mm) group.repair(at);
            }
        }
        best = choice;
        return best.is_within = true;
    };
    grain = std::clamp(grain, kMinGrain, kMaxGrain);
    if (attempt(grain)) {  // try coarser steps
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
