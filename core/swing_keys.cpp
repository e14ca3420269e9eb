#include "swing_keys.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "key_adjustment.hpp"
#include "quaternions.hpp"
#include "rotation_bundle.hpp"

namespace keypose {
namespace {

constexpr double PI = 3.141592653589793;
constexpr double ROUNDING = 1e-11;     // radians, by which the tolerance is reduced
constexpr std::size_t LOOK_AHEAD = 4;  // next swings to which routes lead: keys can replace all but the last of them

struct Key {
    std::size_t frame;
    Q rotation;
};

class Joint {
public:
    Joint(const double* rotations, std::size_t frames, double tolerance, const KeyOptions& options)
        : rotations_(rotations), frames_(frames), tolerance_(std::max(0.0, tolerance - ROUNDING)), options_(options) {}

    // Returns the cheapest chain of keys and swings, with some of the swings first to end_index - 1; sets is_swing_used
    // for these.
    const std::vector<AdjustableKey>& chain(const CandidateSwings& swings, std::size_t first, std::size_t end_index,
                                          std::uint8_t* is_swing_used) {
        swings_ = &swings;
        first_ = first;
        routes_.assign(end_index - first + 1, {});  // the best route to each swing, and to the end of the clip
        start_routes();
        for (std::size_t n = 0; n + 1 < routes_.size(); ++n) {
            base_ = routes_[n].cost + options_.swing_cost;
            from_ = n + 1;
            pending_.clear();
            extend_routes({static_cast<std::size_t>(swings.ends[first + n]), last_rotation(n)}, n + 1);
        }
        std::vector<const Route*> route;
        for (std::size_t n = routes_.size(); n;) {
            route.push_back(&routes_[n - 1]);
            n = routes_[n - 1].from;
            if (n) is_swing_used[first + n - 1] = 1;
        }
        chain_.clear();
        in_chain_.clear();
        for (auto route_part = route.rbegin(); route_part != route.rend(); ++route_part) {
            if (const std::size_t n = (*route_part)->from) {
                in_chain_.push_back(n - 1);
                chain_.push_back({start(n - 1), first_rotation(n - 1), true});
                chain_.push_back({end(n - 1), last_rotation(n - 1), true});
            }
            for (const Key& key : (*route_part)->keys) chain_.push_back({key.frame, key.rotation, false});
        }
        adjust_keys(rotations_, frames_, tolerance_, chain_);
        return chain_;
    }

    // Writes the playback of the chain to every frame of `playback`, `stride` numbers apart.
    void play(double* playback, std::size_t stride) const {
        const auto write = [&](std::size_t t, Q q) {
            const double values[] = {q.w, q.x, q.y, q.z};
            std::copy(values, values + 4, playback + t * stride);
        };
        for (std::size_t t = 0; t < chain_.front().frame; ++t) write(t, chain_.front().rotation);
        for (std::size_t t = chain_.back().frame; t < frames_; ++t) write(t, chain_.back().rotation);
        std::size_t ends = 0;  // number of ends of swings so far; each swing has two
        for (std::size_t k = 0; k + 1 < chain_.size(); ++k) {
            const AdjustableKey &a = chain_[k], &b = chain_[k + 1];
            ends += a.fixed;
            const bool swings = a.fixed && ends % 2;
            const V3 rotation_vector = swings ? swing_rotation_vector(in_chain_[ends / 2]) : rotation_between(a.rotation, b.rotation);
            const double step_fraction = 1.0 / static_cast<double>(b.frame - a.frame);
            for (std::size_t t = a.frame; t < b.frame; ++t)
                write(t, rotate_by(a.rotation, step_fraction * static_cast<double>(t - a.frame) * rotation_vector));
        }
    }

private:
    struct Route {
        double cost = std::numeric_limits<double>::infinity();  // in keys
        std::size_t from = 0;                                   // 1 + the previous swing; 0: the start of the clip
        std::vector<Key> keys;                                  // after that swing
    };

    Q original(std::size_t frame) const {
        const double* q = rotations_ + 4 * frame;
        return {q[0], q[1], q[2], q[3]};
    }
    std::size_t start(std::size_t n) const { return static_cast<std::size_t>(swings_->starts[first_ + n]); }
    std::size_t end(std::size_t n) const { return static_cast<std::size_t>(swings_->ends[first_ + n]); }
    Q first_rotation(std::size_t n) const {
        const double* q = swings_->rotations + 4 * (first_ + n);
        return {q[0], q[1], q[2], q[3]};
    }
    Q last_rotation(std::size_t n) const { return rotate_by(first_rotation(n), swing_rotation_vector(n)); }
    V3 swing_rotation_vector(std::size_t n) const { return vector_at(swings_->rotation_vectors + 3 * (first_ + n)); }

    // Records a route to swing n, or to the end of the clip, through the pending keys and perhaps one more.
    void reach_swing(std::size_t n, const Key* before = nullptr) {
        const double cost = base_ + static_cast<double>(pending_.size() + (before != nullptr));
        if (cost >= routes_[n].cost) return;
        routes_[n] = {cost, from_, pending_};
        if (before) routes_[n].keys.push_back(*before);
    }

    bool is_constant_after(const Key& key_before) const {
        for (std::size_t t = key_before.frame + 1; t < frames_; ++t) {
            const V3 difference = rotation_between(key_before.rotation, original(t));
            if (dot(difference, difference) > tolerance_ * tolerance_) return false;
        }
        return true;
    }

    // Records the routes from the start of the clip; the rotation is constant up to the first key.
    void start_routes() {
        base_ = 0;
        from_ = 0;
        pending_.clear();
        const Q origin = original(0);
        bundle_.clear(tolerance_);
        std::size_t frame = 0;
        bundle_.add(1, {});
        while (frame + 1 < frames_ && bundle_.add(1, rotation_between(origin, original(frame + 1)))) ++frame;
        const Q constant_rotation = rotate_by(origin, bundle_.rotation_vector());
        std::size_t n = 0;
        for (; n + 1 < routes_.size() && start(n) <= frame; ++n) {
            if (bundle_.fits(rotation_between(origin, first_rotation(n)), start(n))) {
                reach_swing(n);
            } else {
                const Key before{start(n) - 1, constant_rotation};
                reach_swing(n, &before);
            }
        }
        pending_.push_back({frame, constant_rotation});
        extend_routes({frame, constant_rotation}, n);
    }

    // Records the routes from a key or the end of a swing to the next LOOK_AHEAD swings from n on, and to the end of
    // the clip if there are fewer.
    void extend_routes(Key key_before, std::size_t n) {
        const std::size_t last = routes_.size() - 1, stop = std::min(n + LOOK_AHEAD, last);
        while (true) {
            if (stop == last && is_constant_after(key_before)) return reach_swing(last);
            const std::size_t reach = extend_span(key_before);
            for (; n < stop && start(n) <= reach; ++n) {
                const std::size_t length = start(n) - key_before.frame;
                const V3 direct = rotation_between(key_before.rotation, first_rotation(n));
                if (bundle_.fits((1.0 / static_cast<double>(length)) * direct, length - 1)) {
                    reach_swing(n);
                } else {
                    const Key before = key_on_span(key_before, start(n) - 1);
                    reach_swing(n, &before);
                }
            }
            if (n == stop && stop != last) return;
            key_before = key_on_span(key_before, reach);
            pending_.push_back(key_before);
            if (reach == frames_ - 1) return reach_swing(last);
        }
    }

    // Returns the last frame up to which a rotation at constant speed from a key stays within the tolerance; bundle_
    // then has its rotation vector per frame.
    std::size_t extend_span(const Key& key_before) {
        bundle_.clear(tolerance_);
        const std::size_t end_index = std::min(frames_, key_before.frame + 1 + options_.max_span);
        std::size_t frame = key_before.frame;
        while (frame + 1 < end_index) {
            const V3 target = rotation_between(key_before.rotation, original(frame + 1));
            const bool near_half_turn = std::sqrt(dot(target, target)) + tolerance_ > PI - 0.01;  // the direction is ambiguous
            const bool is_next = frame == key_before.frame;  // a key there is always exact: no frame lies between
            if (!is_next && near_half_turn) break;
            if (!bundle_.add(static_cast<double>(frame + 1 - key_before.frame), target) && !is_next) break;
            ++frame;
            if (near_half_turn || !bundle_.size()) break;
        }
        is_direct_ = frame == key_before.frame + 1;
        return frame;
    }

    Key key_on_span(const Key& key_before, std::size_t frame) const {
        if (is_direct_) return {frame, original(frame)};
        return {frame, rotate_by(key_before.rotation, static_cast<double>(frame - key_before.frame) * bundle_.rotation_vector())};
    }

    const double* rotations_;
    std::size_t frames_;
    double tolerance_;
    const KeyOptions& options_;
    const CandidateSwings* swings_ = nullptr;
    std::size_t first_ = 0, from_ = 0;
    double base_ = 0;
    bool is_direct_ = false;
    RotationBundle bundle_;
    std::vector<Route> routes_;
    std::vector<Key> pending_;
    std::vector<AdjustableKey> chain_;
    std::vector<std::size_t> in_chain_;  // the swings in chain_
};

}  // namespace

JointKeys fit_joint_keys(const double* rotations, std::size_t frames, std::size_t joints, const CandidateSwings& swings,
                     const KeyOptions& options, bool (*keep_going)()) {
    JointKeys out;
    out.is_swing_used.assign(swings.count, 0);
    out.playback.resize(frames * joints * 4);
    std::vector<double> own(joints ? frames * 4 : 0);  // of one joint, contiguous, as they are traversed many times
    std::size_t first = 0;
    for (std::size_t j = 0; j < joints; ++j) {
        std::size_t end_index = first;
        while (end_index < swings.count && swings.joints[end_index] == static_cast<std::int32_t>(j)) ++end_index;
        for (std::size_t t = 0; t < frames; ++t)
            std::copy_n(rotations + 4 * (t * joints + j), 4, own.data() + 4 * t);
        Joint joint(own.data(), frames, options.tolerances[j], options);
        for (const AdjustableKey& key : joint.chain(swings, first, end_index, out.is_swing_used.data())) {
            if (key.fixed) continue;
            out.joints.push_back(static_cast<std::int32_t>(j));
            out.frames.push_back(static_cast<std::int32_t>(key.frame));
            out.rotations.insert(out.rotations.end(),
                                 {key.rotation.w, key.rotation.x, key.rotation.y, key.rotation.z});
        }
        joint.play(out.playback.data() + 4 * j, 4 * joints);
        first = end_index;
        if (keep_going && !keep_going()) {
            out.finished = false;
            break;
        }
    }
    return out;
}

}  // namespace keypose
