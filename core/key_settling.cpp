#include "key_settling.hpp"

#include <algorithm>
#include <cmath>

namespace keypose {
namespace {

constexpr int SWEEPS = 3;    // over all keys; more hardly help
constexpr int SHORTENED = 3;  // times that a move is halved before it is given up

struct Off {
    double squares = 0, largest = 0;  // of sines of half the angles
    double shares = 0;                // sum of the squares of a key's shares in what frames play
    V3 pull;                          // sum of twice these sines, in the parent's frame, times the shares
};

class Settling {
public:
    Settling(const double* rotations, std::size_t frames, double tolerance, std::vector<SettlingKey>& keys)
        : rotations_(rotations), frames_(frames), most_(std::sin(std::min(tolerance, 3.0) / 2)), keys_(keys) {}

    void sweep() {
        for (std::size_t k = 0; k < keys_.size(); ++k)
            if (!keys_[k].fixed) settle(k);
    }

private:
    // One key towards the least squares of the frames around it, as far as all stay near enough.
    void settle(std::size_t k) {
        const Q from = keys_[k].rotation;
        const Off before = around(k);
        if (!(before.shares > 0)) return;
        V3 move = turned({from.w, -from.x, -from.y, -from.z}, (1 / before.shares) * before.pull);
        for (int i = 0; i < SHORTENED; ++i, move = 0.5 * move) {
            keys_[k].rotation = turned_by(from, move);
            const Off after = around(k);
            if (after.largest <= most_ && after.squares < before.squares) return;
        }
        keys_[k].rotation = from;
    }

    // How far off the frames are that a key has a share in.
    Off around(std::size_t k) const {
        Off off;
        const SettlingKey& key = keys_[k];
        add(off, key.frame, key.rotation, 1);
        if (k) {
            leg(off, keys_[k - 1], key, true);
        } else {
            for (std::size_t t = 0; t < key.frame; ++t) add(off, t, key.rotation, 1);
        }
        if (k + 1 < keys_.size()) {
            leg(off, key, keys_[k + 1], false);
        } else {
            for (std::size_t t = key.frame + 1; t < frames_; ++t) add(off, t, key.rotation, 1);
        }
        return off;
    }

    // The frames between two keys, of which the one meant comes last or first.
    void leg(Off& off, const SettlingKey& a, const SettlingKey& b, bool last) const {
        const std::size_t length = b.frame - a.frame;
        if (length < 2) return;
        const double part = 1.0 / static_cast<double>(length);
        const Q step = turned_by({}, part * turn_between(a.rotation, b.rotation));
        Q played = a.rotation;
        for (std::size_t t = 1; t < length; ++t) {
            played = played * step;
            const double gone = part * static_cast<double>(t);
            add(off, a.frame + t, played, last ? gone : 1 - gone);
        }
    }

    void add(Off& off, std::size_t frame, Q played, double share) const {
        const double* q = rotations_ + 4 * frame;
        Q d = Q{q[0], q[1], q[2], q[3]} * Q{played.w, -played.x, -played.y, -played.z};
        if (d.w < 0) d = {-d.w, -d.x, -d.y, -d.z};
        const V3 sine{d.x, d.y, d.z};
        const double square = dot(sine, sine);
        off.squares += square;
        off.largest = std::max(off.largest, std::sqrt(square));
        off.shares += share * share;
        off.pull = off.pull + (2 * share) * sine;
    }

    const double* rotations_;
    std::size_t frames_;
    double most_;
    std::vector<SettlingKey>& keys_;
};

}  // namespace

void settle_keys(const double* rotations, std::size_t frames, double tolerance, std::vector<SettlingKey>& keys) {
    Settling settling(rotations, frames, tolerance, keys);
    for (int i = 0; i < SWEEPS; ++i) settling.sweep();
}

}  // namespace keypose
