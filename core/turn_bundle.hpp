// One even turn that comes within a tolerance of many targets, found target by target.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

#include "space.hpp"

namespace keypose {

// A turn that is stretched to each frame, and must come within the tolerance of where the joint has turned by then. On
// rotations, distances are at most those of the logarithms: what is near enough here is near enough there.
class TurnBundle {
public:
    void clear(double tolerance) {
        tolerance_ = tolerance;
        targets_.clear();
        parts_.clear();
        turn_ = {};
    }
    V3 turn() const { return turn_; }  // per unit of `part`
    std::size_t size() const { return parts_.size(); }

    // Whether there is a turn for the target too; if not, all stays as it was.
    bool add(double part, V3 target) {
        targets_.push_back(target);
        parts_.push_back(part);
        if (excess(turn_, parts_.size() - 1) <= 0) return true;
        const V3 before = turn_;
        correct(parts_.size() - 1);
        for (int i = 0; i < MOST_CORRECTIONS; ++i) {
            const std::size_t worst = farthest(turn_, parts_.size());
            if (excess(turn_, worst) <= 0) return true;
            correct(worst);
        }
        turn_ = before;
        targets_.pop_back();
        parts_.pop_back();
        return false;
    }

    // Whether a given turn does for the first n targets.
    bool holds(V3 turn, std::size_t n) const { return !n || excess(turn, farthest(turn, n)) <= 0; }

private:
    double square_off(V3 turn, std::size_t i) const {
        const V3 off = parts_[i] * turn - targets_[i];
        return dot(off, off);
    }
    double excess(V3 turn, std::size_t i) const { return std::sqrt(square_off(turn, i)) - tolerance_; }

    std::size_t farthest(V3 turn, std::size_t n) const {
        std::size_t worst = 0;
        double most = -1;
        for (std::size_t i = 0; i < n; ++i) {
            const double square = square_off(turn, i);
            if (square > most) most = square, worst = i;
        }
        return worst;
    }

    // Into the ball of turns that do for one target, straight towards its middle.
    void correct(std::size_t i) {
        const V3 off = parts_[i] * turn_ - targets_[i];
        turn_ = (1 / parts_[i]) * (targets_[i] + (INSIDE * tolerance_ / std::sqrt(dot(off, off))) * off);
    }

    static constexpr double INSIDE = 0.99;       // of the tolerance: where a turn is put that was outside it
    static constexpr int MOST_CORRECTIONS = 24;  // until targets are taken to have no turn in common

    double tolerance_ = 0;
    std::vector<V3> targets_;
    std::vector<double> parts_;
    V3 turn_;
};

}  // namespace keypose
