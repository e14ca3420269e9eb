// One constant rotation within a tolerance of many targets, found incrementally.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

#include "quaternions.hpp"

namespace keypose {

// A rotation vector that, scaled to each frame, must be within the tolerance of the joint's rotation there. Distances
// of rotations are at most those of their logarithms, so the tolerance also holds for the rotations.
class RotationBundle {
public:
    void clear(double tolerance) {
        tolerance_ = tolerance;
        targets_.clear();
        factors_.clear();
        rotation_vector_ = {};
    }
    V3 rotation_vector() const { return rotation_vector_; }  // per unit of `factor`
    std::size_t size() const { return factors_.size(); }

    // Adds a target; returns false and leaves all unchanged if no rotation fits it too.
    bool add(double factor, V3 target) {
        targets_.push_back(target);
        factors_.push_back(factor);
        if (excess(rotation_vector_, factors_.size() - 1) <= 0) return true;
        const V3 before = rotation_vector_;
        correct(factors_.size() - 1);
        for (int i = 0; i < MAX_CORRECTIONS; ++i) {
            const std::size_t worst = farthest(rotation_vector_, factors_.size());
            if (excess(rotation_vector_, worst) <= 0) return true;
            correct(worst);
        }
        rotation_vector_ = before;
        targets_.pop_back();
        factors_.pop_back();
        return false;
    }

    // Whether a given rotation vector fits the first n targets.
    bool fits(V3 rotation_vector, std::size_t n) const { return !n || excess(rotation_vector, farthest(rotation_vector, n)) <= 0; }

private:
    double square_off(V3 rotation_vector, std::size_t i) const {
        const V3 difference = factors_[i] * rotation_vector - targets_[i];
        return dot(difference, difference);
    }
    double excess(V3 rotation_vector, std::size_t i) const { return std::sqrt(square_off(rotation_vector, i)) - tolerance_; }

    std::size_t farthest(V3 rotation_vector, std::size_t n) const {
        std::size_t worst = 0;
        double max_square = -1;
        for (std::size_t i = 0; i < n; ++i) {
            const double square = square_off(rotation_vector, i);
            if (square > max_square) max_square = square, worst = i;
        }
        return worst;
    }

    // Projects into the ball of rotation vectors that fit one target, towards its centre.
    void correct(std::size_t i) {
        const V3 difference = factors_[i] * rotation_vector_ - targets_[i];
        rotation_vector_ = (1 / factors_[i]) * (targets_[i] + (INSIDE * tolerance_ / std::sqrt(dot(difference, difference))) * difference);
    }

    static constexpr double INSIDE = 0.99;       // ratio of the tolerance at which a corrected vector is placed
    static constexpr int MAX_CORRECTIONS = 24;  // before the targets count as incompatible

    double tolerance_ = 0;
    std::vector<V3> targets_;
    std::vector<double> factors_;
    V3 rotation_vector_;
};

}  // namespace keypose
