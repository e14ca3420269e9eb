#include "swing_keys.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "key_settling.hpp"
#include "space.hpp"
#include "turn_bundle.hpp"

namespace keypose {
namespace {

constexpr double PI = 3.141592653589793;
constexpr double ROUNDING = 1e-11;     // radians
constexpr std::size_t LOOK_AHEAD = 4;  // swings, of which all but the last may give way to keys

struct Key {
    std::size_t frame;
    Q rotation;
};

class Joint {
public:
    Joint(const double* rotations, std::size_t frames, double tolerance, const KeysRule& rule)
        : rotations_(rotations), frames_(frames), tolerance_(std::max(0.0, tolerance - ROUNDING)), rule_(rule) {}

    // The cheapest chain of keys and of swings first to past - 1, of which `kept` tells those that are in it.
    const std::vector<SettlingKey>& chain(const GoodSwings& swings, std::size_t first, std::size_t past,
                                          std::uint8_t* kept) {
        swings_ = &swings;
        first_ = first;
        ways_.assign(past - first + 1, {});  // to each swing, and to the end of the clip
        from_start();
        for (std::size_t n = 0; n + 1 < ways_.size(); ++n) {
            base_ = ways_[n].cost + rule_.swing_cost;
            from_ = n + 1;
            pending_.clear();
            walk({static_cast<std::size_t>(swings.ends[first + n]), last_rotation(n)}, n + 1);
        }
        std::vector<const Way*> route;
        for (std::size_t n = ways_.size(); n;) {
            route.push_back(&ways_[n - 1]);
            n = ways_[n - 1].from;
            if (n) kept[first + n - 1] = 1;
        }
        chain_.clear();
        in_chain_.clear();
        for (auto way = route.rbegin(); way != route.rend(); ++way) {
            if (const std::size_t n = (*way)->from) {
                in_chain_.push_back(n - 1);
                chain_.push_back({start(n - 1), first_rotation(n - 1), true});
                chain_.push_back({end(n - 1), last_rotation(n - 1), true});
            }
            for (const Key& key : (*way)->keys) chain_.push_back({key.frame, key.rotation, false});
        }
        settle_keys(rotations_, frames_, tolerance_, chain_);
        return chain_;
    }

    // What the chain plays, to every frame of `played`, `stride` numbers apart.
    void play(double* played, std::size_t stride) const {
        const auto put = [&](std::size_t t, Q q) {
            const double values[] = {q.w, q.x, q.y, q.z};
            std::copy(values, values + 4, played + t * stride);
        };
        for (std::size_t t = 0; t < chain_.front().frame; ++t) put(t, chain_.front().rotation);
        for (std::size_t t = chain_.back().frame; t < frames_; ++t) put(t, chain_.back().rotation);
        std::size_t ends = 0;  // of swings, so far: they come in pairs
        for (std::size_t k = 0; k + 1 < chain_.size(); ++k) {
            const SettlingKey &a = chain_[k], &b = chain_[k + 1];
            ends += a.fixed;
            const bool swings = a.fixed && ends % 2;
            const V3 turn = swings ? turn_of(in_chain_[ends / 2]) : turn_between(a.rotation, b.rotation);
            const double part = 1.0 / static_cast<double>(b.frame - a.frame);
            for (std::size_t t = a.frame; t < b.frame; ++t)
                put(t, turned_by(a.rotation, part * static_cast<double>(t - a.frame) * turn));
        }
    }

private:
    struct Way {
        double cost = std::numeric_limits<double>::infinity();  // in keys
        std::size_t from = 0;                                   // 1 + the swing before; 0: the start of the clip
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
    Q last_rotation(std::size_t n) const { return turned_by(first_rotation(n), turn_of(n)); }
    V3 turn_of(std::size_t n) const { return vector_at(swings_->turns + 3 * (first_ + n)); }

    // At swing n, or at the end of the clip, through the keys so far and perhaps one more.
    void arrive(std::size_t n, const Key* before = nullptr) {
        const double cost = base_ + static_cast<double>(pending_.size() + (before != nullptr));
        if (cost >= ways_[n].cost) return;
        ways_[n] = {cost, from_, pending_};
        if (before) ways_[n].keys.push_back(*before);
    }

    bool holds_from(const Key& node) const {
        for (std::size_t t = node.frame + 1; t < frames_; ++t) {
            const V3 off = turn_between(node.rotation, original(t));
            if (dot(off, off) > tolerance_ * tolerance_) return false;
        }
        return true;
    }

    // A first key holds for all frames before it.
    void from_start() {
        base_ = 0;
        from_ = 0;
        pending_.clear();
        const Q origin = original(0);
        bundle_.clear(tolerance_);
        std::size_t frame = 0;
        bundle_.add(1, {});
        while (frame + 1 < frames_ && bundle_.add(1, turn_between(origin, original(frame + 1)))) ++frame;
        const Q held = turned_by(origin, bundle_.turn());
        std::size_t n = 0;
        for (; n + 1 < ways_.size() && start(n) <= frame; ++n) {
            if (bundle_.holds(turn_between(origin, first_rotation(n)), start(n))) {
                arrive(n);
            } else {
                const Key before{start(n) - 1, held};
                arrive(n, &before);
            }
        }
        pending_.push_back({frame, held});
        walk({frame, held}, n);
    }

    // On from a key or the end of a swing: to the next few swings from n on, and to the end of the clip if it comes
    // before them.
    void walk(Key node, std::size_t n) {
        const std::size_t last = ways_.size() - 1, stop = std::min(n + LOOK_AHEAD, last);
        while (true) {
            if (stop == last && holds_from(node)) return arrive(last);
            const std::size_t reach = leg(node);
            for (; n < stop && start(n) <= reach; ++n) {
                const std::size_t length = start(n) - node.frame;
                const V3 straight = turn_between(node.rotation, first_rotation(n));
                if (bundle_.holds((1.0 / static_cast<double>(length)) * straight, length - 1)) {
                    arrive(n);
                } else {
                    const Key before = on_leg(node, start(n) - 1);
                    arrive(n, &before);
                }
            }
            if (n == stop && stop != last) return;
            node = on_leg(node, reach);
            pending_.push_back(node);
            if (reach == frames_ - 1) return arrive(last);
        }
    }

    // How far one even turn from a key is near enough; the bundle then has it, per frame.
    std::size_t leg(const Key& node) {
        bundle_.clear(tolerance_);
        const std::size_t past = std::min(frames_, node.frame + 1 + rule_.longest);
        std::size_t frame = node.frame;
        while (frame + 1 < past) {
            const V3 target = turn_between(node.rotation, original(frame + 1));
            const bool near_half = std::sqrt(dot(target, target)) + tolerance_ > PI - 0.01;  // it may go either way
            const bool next = frame == node.frame;  // a key there is always right: nothing lies between
            if (!next && near_half) break;
            if (!bundle_.add(static_cast<double>(frame + 1 - node.frame), target) && !next) break;
            ++frame;
            if (near_half || !bundle_.size()) break;
        }
        straight_ = frame == node.frame + 1;
        return frame;
    }

    Key on_leg(const Key& node, std::size_t frame) const {
        if (straight_) return {frame, original(frame)};
        return {frame, turned_by(node.rotation, static_cast<double>(frame - node.frame) * bundle_.turn())};
    }

    const double* rotations_;
    std::size_t frames_;
    double tolerance_;
    const KeysRule& rule_;
    const GoodSwings* swings_ = nullptr;
    std::size_t first_ = 0, from_ = 0;
    double base_ = 0;
    bool straight_ = false;
    TurnBundle bundle_;
    std::vector<Way> ways_;
    std::vector<Key> pending_;
    std::vector<SettlingKey> chain_;
    std::vector<std::size_t> in_chain_;  // the swings
};

}  // namespace

JointKeys joint_keys(const double* rotations, std::size_t frames, std::size_t joints, const GoodSwings& swings,
                     const KeysRule& rule, bool (*keep_going)()) {
    JointKeys out;
    out.kept.assign(swings.count, 0);
    out.played.resize(frames * joints * 4);
    std::vector<double> own(frames * 4);  // of one joint, side by side: they are gone through many times
    std::size_t first = 0;
    for (std::size_t j = 0; j < joints; ++j) {
        std::size_t past = first;
        while (past < swings.count && swings.joints[past] == static_cast<std::int32_t>(j)) ++past;
        for (std::size_t t = 0; t < frames; ++t)
            std::copy_n(rotations + 4 * (t * joints + j), 4, own.data() + 4 * t);
        Joint joint(own.data(), frames, rule.tolerances[j], rule);
        for (const SettlingKey& key : joint.chain(swings, first, past, out.kept.data())) {
            if (key.fixed) continue;
            out.joints.push_back(static_cast<std::int32_t>(j));
            out.frames.push_back(static_cast<std::int32_t>(key.frame));
            out.rotations.insert(out.rotations.end(),
                                 {key.rotation.w, key.rotation.x, key.rotation.y, key.rotation.z});
        }
        joint.play(out.played.data() + 4 * j, 4 * joints);
        first = past;
        if (keep_going && !keep_going()) {
            out.finished = false;
            break;
        }
    }
    return out;
}

}  // namespace keypose
