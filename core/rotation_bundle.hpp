// Incremental search for one rotation vector that fits the rotations of many frames within a tolerance.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

#include "quaternions.hpp"

namespace keypose {

// A rotation vector v such that factor * v is within the tolerance of the target of each frame, both as rotation
// vectors. The distance of two rotations is at most that of their rotation vectors, so the rotations are within the
// tolerance, too.
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

    // Adds a target; returns false and changes nothing if no vector is found that fits all targets.
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

    // Returns whether a given rotation vector fits the first n targets.
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

    // Moves the vector into the ball of rotation vectors that fit one target, towards its centre.
    void correct(std::size_t i) {
        const V3 difference = factors_[i] * rotation_vector_ - targets_[i];
        rotation_vector_ = (1 / factors_[i]) * (targets_[i] + (INSIDE * tolerance_ / std::sqrt(dot(difference, difference))) * difference);
    }

    static constexpr double INSIDE = 0.99;       // distance of a corrected vector from the target, as a ratio of the tolerance
    static constexpr int MAX_CORRECTIONS = 24;   // after these, no vector fits

    double tolerance_ = 0;
    std::vector<V3> targets_;
    std::vector<double> factors_;
    V3 rotation_vector_;
};

}  // namespace keypose
