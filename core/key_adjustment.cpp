#include "key_adjustment.hpp"

#include <algorithm>
#include <cmath>

namespace keypose {
namespace {

constexpr int SWEEPS = 3;        // passes over all keys; more hardly improve the result
constexpr int MAX_HALVINGS = 3;  // of a move before it is rejected

struct Deviation {
    double squares = 0, largest = 0;  // of the sines of half the error angles: sum of squares, maximum
    double weight_squares = 0;           // sum of the squared interpolation weights of the adjusted key
    V3 weighted_error;                   // sum of twice these sines as vectors in the parent's frame, times the weights
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
    // Moves one key towards the least-squares optimum for the frames that it influences; all of them must stay within
    // the tolerance.
    void adjust(std::size_t k) {
        const Q from = keys_[k].rotation;
        const Deviation before = measure_around(k);
        if (!(before.weight_squares > 0)) return;
        V3 move = rotate({from.w, -from.x, -from.y, -from.z}, (1 / before.weight_squares) * before.weighted_error);
        for (int i = 0; i < MAX_HALVINGS; ++i, move = 0.5 * move) {
            keys_[k].rotation = rotate_by(from, move);
            const Deviation after = measure_around(k);
            if (after.largest <= max_sine_ && after.squares < before.squares) return;
        }
        keys_[k].rotation = from;
    }

    // Sums the errors of the frames that a key influences.
    Deviation measure_around(std::size_t k) const {
        Deviation deviation;
        const AdjustableKey& key = keys_[k];
        add(deviation, key.frame, key.rotation, 1);
        if (k) {
            add_span(deviation, keys_[k - 1], key, true);
        } else {
            for (std::size_t t = 0; t < key.frame; ++t) add(deviation, t, key.rotation, 1);
        }
        if (k + 1 < keys_.size()) {
            add_span(deviation, key, keys_[k + 1], false);
        } else {
            for (std::size_t t = key.frame + 1; t < frames_; ++t) add(deviation, t, key.rotation, 1);
        }
        return deviation;
    }

    // Adds the frames between two keys; `last`: b is the adjusted key, not a.
    void add_span(Deviation& deviation, const AdjustableKey& a, const AdjustableKey& b, bool last) const {
        const std::size_t length = b.frame - a.frame;
        if (length < 2) return;
        const double step_fraction = 1.0 / static_cast<double>(length);
        const Q step = rotate_by({}, step_fraction * rotation_between(a.rotation, b.rotation));
        Q interpolated = a.rotation;
        for (std::size_t t = 1; t < length; ++t) {
            interpolated = interpolated * step;
            const double fraction = step_fraction * static_cast<double>(t);
            add(deviation, a.frame + t, interpolated, last ? fraction : 1 - fraction);
        }
    }

    void add(Deviation& deviation, std::size_t frame, Q interpolated, double weight) const {
        const double* q = rotations_ + 4 * frame;
        Q d = Q{q[0], q[1], q[2], q[3]} * Q{interpolated.w, -interpolated.x, -interpolated.y, -interpolated.z};
        if (d.w < 0) d = {-d.w, -d.x, -d.y, -d.z};
        const V3 sine{d.x, d.y, d.z};
        const double square = dot(sine, sine);
        deviation.squares += square;
        deviation.largest = std::max(deviation.largest, std::sqrt(square));
        deviation.weight_squares += weight * weight;
        deviation.weighted_error = deviation.weighted_error + (2 * weight) * sine;
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
