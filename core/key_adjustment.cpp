#include "key_adjustment.hpp"

#include <algorithm>
#include <cmath>

namespace keypose {
namespace {

constexpr int SWEEPS = 3;    // over all keys; more sweeps hardly improve the result
constexpr int MAX_HALVINGS = 3;  // of a move before it is rejected

struct Deviation {
    double squares = 0, largest = 0;  // of the sines of half the error angles
    double shares = 0;                // sum of the squares of a key's interpolation weights
    V3 pull;                          // sum of twice these sines, in the parent's frame, times the weights
};

class KeyAdjuster {
public:
    KeyAdjuster(const double* rotations, std::size_t frames, double tolerance, std::vector<AdjustableKey>& keys)
        : rotations_(rotations), frames_(frames), max_sine_(std::sin(std::min(tolerance, 3.0) / 2)), keys_(keys) {}

    void sweep() {
        for (std::size_t k = 0; k < keys_.size(); ++k)
            if (!keys_[k].fixed) adjust(k);
    }

private:
    // Moves one key towards the least-squares optimum of the frames around it while all stay within the tolerance.
    void adjust(std::size_t k) {
        const Q from = keys_[k].rotation;
        const Deviation before = measure_around(k);
        if (!(before.shares > 0)) return;
        V3 move = rotate({from.w, -from.x, -from.y, -from.z}, (1 / before.shares) * before.pull);
        for (int i = 0; i < MAX_HALVINGS; ++i, move = 0.5 * move) {
            keys_[k].rotation = rotate_by(from, move);
            const Deviation after = measure_around(k);
            if (after.largest <= max_sine_ && after.squares < before.squares) return;
        }
        keys_[k].rotation = from;
    }

    // The deviation of the frames that a key influences.
    Deviation measure_around(std::size_t k) const {
        Deviation deviation;
        const AdjustableKey& key = keys_[k];
        add(deviation, key.frame, key.rotation, 1);
        if (k) {
            add_leg(deviation, keys_[k - 1], key, true);
        } else {
            for (std::size_t t = 0; t < key.frame; ++t) add(deviation, t, key.rotation, 1);
        }
        if (k + 1 < keys_.size()) {
            add_leg(deviation, key, keys_[k + 1], false);
        } else {
            for (std::size_t t = key.frame + 1; t < frames_; ++t) add(deviation, t, key.rotation, 1);
        }
        return deviation;
    }

    // Adds the frames between two keys; `last`: whether the adjusted key is b.
    void add_leg(Deviation& deviation, const AdjustableKey& a, const AdjustableKey& b, bool last) const {
        const std::size_t length = b.frame - a.frame;
        if (length < 2) return;
        const double part = 1.0 / static_cast<double>(length);
        const Q step = rotate_by({}, part * rotation_between(a.rotation, b.rotation));
        Q played = a.rotation;
        for (std::size_t t = 1; t < length; ++t) {
            played = played * step;
            const double fraction = part * static_cast<double>(t);
            add(deviation, a.frame + t, played, last ? fraction : 1 - fraction);
        }
    }

    void add(Deviation& deviation, std::size_t frame, Q played, double share) const {
        const double* q = rotations_ + 4 * frame;
        Q d = Q{q[0], q[1], q[2], q[3]} * Q{played.w, -played.x, -played.y, -played.z};
        if (d.w < 0) d = {-d.w, -d.x, -d.y, -d.z};
        const V3 sine{d.x, d.y, d.z};
        const double square = dot(sine, sine);
        deviation.squares += square;
        deviation.largest = std::max(deviation.largest, std::sqrt(square));
        deviation.shares += share * share;
        deviation.pull = deviation.pull + (2 * share) * sine;
    }

    const double* rotations_;
    std::size_t frames_;
    double max_sine_;
    std::vector<AdjustableKey>& keys_;
};

}  // namespace

void adjust_keys(const double* rotations, std::size_t frames, double tolerance, std::vector<AdjustableKey>& keys) {
    KeyAdjuster adjuster(rotations, frames, tolerance, keys);
    for (int i = 0; i < SWEEPS; ++i) adjuster.sweep();
}

}  // namespace keypose
