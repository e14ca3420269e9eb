#include "swings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "quaternions.hpp"

namespace keypose {
namespace {

double angle(V3 a, V3 b) { return std::acos(std::clamp(dot(a, b), -1.0, 1.0)); }

// Segments one joint at a time; the arrays are reused from joint to joint.
class JointSegmenter {
public:
    JointSegmenter(std::size_t frames, const SwingOptions& options)
        : options_(options), frames_(frames), velocities_(frames), axes_(frames), errors_(frames), order_(frames),
          is_rest_(frames), is_free_(frames) {
        for (std::size_t k = frames; k <= options.half_window; ++k) weight_beyond_ += weight_at(k);
    }

    void segment(const double* rotations, std::size_t stride, std::int32_t joint, SwingSpans& out) {
        differentiate(rotations, stride);
        smooth();
        compute_errors();
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [this](std::size_t a, std::size_t b) { return errors_[a] < errors_[b]; });
        spans_.clear();
        for (const std::size_t seed : order_)
            if (is_free_[seed]) grow(seed);
        std::sort(spans_.begin(), spans_.end());
        for (const auto& [start, end] : spans_) {
            V3 sum;
            for (std::size_t t = start; t < end; ++t) sum = sum + velocities_[t];
            add(out.swings, joint, start, end);
            out.rotation_vectors.insert(out.rotation_vectors.end(), {sum.x, sum.y, sum.z});
        }
        for (std::size_t t = 0; t < frames_; ++t) {
            const std::size_t start = t;
            while (t < frames_ && is_rest_[t]) ++t;
            if (t > start) add(out.rests, joint, start, t - 1);
        }
    }

private:
    static void add(JointSpans& spans, std::int32_t joint, std::size_t start, std::size_t end) {
        spans.joints.push_back(joint);
        spans.starts.push_back(static_cast<std::int32_t>(start));
        spans.ends.push_back(static_cast<std::int32_t>(end));
    }

    // Computes the rotation vector from each frame to the next; the last frame repeats the one before it.
    void differentiate(const double* rotations, std::size_t stride) {
        const auto at = [&](std::size_t t) {
            const double* q = rotations + t * stride;
            return Q{q[0], q[1], q[2], q[3]};
        };
        for (std::size_t t = 0; t + 1 < frames_; ++t) velocities_[t] = rotation_between(at(t), at(t + 1));
        velocities_[frames_ - 1] = frames_ > 1 ? velocities_[frames_ - 2] : V3{};
    }

    // Computes the axes of the mean velocities in a window around each frame, which is shorter at the ends of the clip;
    // marks slow frames as rest.
    void smooth() {
        const std::size_t before = options_.smoothing / 2, after = options_.smoothing - before;
        for (std::size_t t = 0; t < frames_; ++t) {
            const std::size_t first = t > before ? t - before : 0, window_end = std::min(frames_, t + after);
            V3 sum;
            for (std::size_t i = first; i < window_end; ++i) sum = sum + velocities_[i];
            const double length = std::sqrt(dot(sum, sum));
            is_rest_[t] = length / static_cast<double>(window_end - first) < options_.rest_speed;
            is_free_[t] = !is_rest_[t];
            axes_[t] = length > 0 ? (1 / length) * sum : V3{};
        }
    }

    // The weight of a frame that is k frames away.
    double weight_at(std::size_t k) const {
        const double relative = static_cast<double>(k) / static_cast<double>(2 * options_.half_window);
        return 1 / (1 + relative * relative);
    }

    // Computes for each frame the weighted sum of the angles between its axis and those around it; beyond the ends of
    // the clip, the first or last axis is used.
    void compute_errors() {
        std::fill(errors_.begin(), errors_.end(), 0.0);
        const std::size_t last = frames_ - 1;
        for (std::size_t k = 1; k <= std::min(options_.half_window, last); ++k) {
            const double weight = weight_at(k);
            for (std::size_t t = 0; t + k <= last; ++t) {
                if (is_rest_[t] && is_rest_[t + k]) continue;  // seeds are never at rest
                const double difference = weight * angle(axes_[t], axes_[t + k]);
                errors_[t] += difference;
                errors_[t + k] += difference;
            }
            add_beyond_ends(k, weight);
        }
        if (weight_beyond_ > 0) add_beyond_ends(frames_, weight_beyond_);
    }

    // Adds the difference of each of the first and last n frames from the first or last axis.
    void add_beyond_ends(std::size_t n, double weight) {
        const std::size_t last = frames_ - 1;
        for (std::size_t t = 0; t < n; ++t) {
            errors_[t] += weight * angle(axes_[t], axes_[0]);
            errors_[last - t] += weight * angle(axes_[last - t], axes_[last]);
        }
    }

    // Grows a span from the seed to the left or right, whichever axis is closer, while the mean is below the threshold.
    void grow(std::size_t seed) {
        const double infinite = std::numeric_limits<double>::infinity();
        const auto difference = [&](std::size_t t) {
            return options_.cosine ? 1 - std::clamp(dot(axes_[t], axes_[seed]), -1.0, 1.0) : angle(axes_[t], axes_[seed]);
        };
        const auto left_of = [&](std::size_t t) { return t > 0 && is_free_[t - 1] ? difference(t - 1) : infinite; };
        const auto right_of = [&](std::size_t t) { return t + 1 < frames_ && is_free_[t + 1] ? difference(t + 1) : infinite; };
        std::size_t start = seed, end = seed;
        double sum = 0, left = left_of(seed), right = right_of(seed);
        while (true) {
            const double min_difference = std::min(left, right);
            if (min_difference == infinite || (sum + min_difference) / static_cast<double>(end - start + 2) > options_.threshold) break;
            sum += min_difference;
            if (left <= right) {
                left = left_of(--start);
            } else {
                right = right_of(++end);
            }
        }
        std::fill(is_free_.begin() + static_cast<std::ptrdiff_t>(start), is_free_.begin() + static_cast<std::ptrdiff_t>(end) + 1, 0);
        if (end - start + 1 >= options_.min_frames) spans_.emplace_back(start, end);
    }

    const SwingOptions options_;
    const std::size_t frames_;
    double weight_beyond_ = 0;  // sum of the weights of the window that is longer than the clip
    std::vector<V3> velocities_, axes_;
    std::vector<double> errors_;
    std::vector<std::size_t> order_;
    std::vector<char> is_rest_, is_free_;
    std::vector<std::pair<std::size_t, std::size_t>> spans_;
};

}  // namespace

SwingSpans swing_spans(const double* rotations, std::size_t frames, std::size_t joints, const SwingOptions& options,
                       bool (*keep_going)()) {
    SwingSpans out;
    if (!joints) return out;
    JointSegmenter segmenter(frames, options);
    for (std::size_t j = 0; j < joints; ++j) {
        segmenter.segment(rotations + 4 * j, 4 * joints, static_cast<std::int32_t>(j), out);
        if (keep_going && !keep_going()) {
            out.finished = false;
            break;
        }
    }
    return out;
}

}  // namespace keypose
