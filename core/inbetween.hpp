// Costs of the spans between keys: the distance of the joints from the capture when the curves that will be exported
// replace the frames of the span.
#pragma once
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "edge_band.hpp"
#include "thread_pool.hpp"
#include "simd.hpp"

namespace keypose {

// A capture as arrays. Rotations are quaternions wxyz without changes of sign from frame to frame.
struct Clip {
    const std::int32_t* parents = nullptr;  // (joints) indices, parents first; -1 marks a root
    const double* translations = nullptr;   // (frames, joints, 3) local
    const double* rotations = nullptr;      // (frames, joints, 4) local
    const double* positions = nullptr;      // (frames, joints, 3) world: target positions
    const double* weights = nullptr;        // (joints) of the squared errors; 0: the joint is not measured
    std::size_t frames = 0, joints = 0;
};

struct InbetweenKind {
    bool straight = false;  // rotation and translation at constant speed; else the least-squares cubic
    bool mean = false;      // cost: the mean error of the joints, summed over the frames; else the largest error
};

// Costs of the spans between keys of one clip.
class Spans {
public:
    Spans(const Clip& clip, InbetweenKind kind);

    // Buffers for one span; each thread has its own.
    struct Workspace {
        std::vector<double> coefficients[4];         // of each channel, as polynomials in the span parameter
        std::vector<double> by_a, by_b, moments[3];  // sums over the frames of the span
        std::vector<double> world_positions, world_rotations, scales;  // of each joint, for four frames
        std::vector<double> angles, factors;         // (joints) of spherical interpolation: the angle, 1 / its sine
    };
    void allocate(Workspace& workspace) const;

    // The cost of the span from k to j; if it exceeds `limit`, any lower bound of it above `limit`.
    double cost(std::size_t k, std::size_t j, double limit, Workspace& workspace) const;
    // Writes lower bounds of the costs of the spans k -> j, k from `first` to j - 1, to out[k]; exact costs have a
    // negative sign.
    void bounds(std::size_t j, std::size_t first, double* out, Workspace& workspace) const;

private:
    // A measured joint or an ancestor of one.
    struct Joint {
        int parent;       // its index in this list, or -1
        int rotation;     // its first rotation channel; -1: no measured descendants
        int translation;  // its first translation channel; -1: the translation is constant, see offset
        double offset[3];
        double weight;
        std::size_t target;  // the first of its three rows in targets_
    };

    // Computes for four frames the largest weighted squared error, or the sum of the errors of the joints.
    template <bool straight, bool mean>
    KEYPOSE_INLINE void errors(const double* parameters, const std::size_t* frames, Workspace& workspace, double* out) const;
    void errors_max(const double* parameters, const std::size_t* frames, Workspace& workspace, double* result) const;
    void errors_mean(const double* parameters, const std::size_t* frames, Workspace& workspace, double* result) const;
    void errors_straight_max(const double* parameters, const std::size_t* frames, Workspace& workspace, double* result) const;
    void errors_straight_mean(const double* parameters, const std::size_t* frames, Workspace& workspace, double* result) const;
    double frame_cost(std::size_t k, std::size_t j, const std::size_t* steps, std::size_t count, Workspace& workspace) const;
    double combine(double cost, double other) const { return kind_.mean ? cost + other : std::max(cost, other); }
    double to_cost(double cost) const { return kind_.mean ? cost / n_measured_ : std::sqrt(cost); }
    const LooseFour* row(std::size_t frame) const {
        return reinterpret_cast<const LooseFour*>(values_.data() + frame * width_);
    }
    std::vector<std::size_t> still_since() const;
    void compute_sums(std::size_t k, std::size_t j, Workspace& workspace) const;
    void update_sums(std::size_t k, std::size_t j, Workspace& workspace) const;
    void fit(std::size_t k, std::size_t j, Workspace& workspace) const;
    void set_straight(std::size_t k, std::size_t j, Workspace& workspace) const;

    const std::size_t frames_;
    const InbetweenKind kind_;
    void (Spans::*const errors_)(const double*, const std::size_t*, Workspace&, double*) const;
    std::vector<Joint> joints_;
    double n_measured_ = 0;        // number of measured joints
    std::size_t width_ = 0;        // number of channels, rounded up to a multiple of four
    std::vector<double> values_;   // (frames, width)
    std::vector<double> targets_;  // (measured joints x 3, frames + padding)
    std::size_t target_stride_ = 0;
    std::vector<std::size_t> still_since_;
};

// Edge costs with the interface of Chords.
class Inbetweens {
public:
    Inbetweens(const Clip& clip, std::size_t reach, const std::vector<std::size_t>& first, InbetweenKind kind)
        : spans_(clip, kind), frames_(clip.frames), band_(clip.frames, reach, first) {}
    void prepare(ThreadPool& pool, unsigned thread);
    const double* row(std::size_t j) const { return band_.row(j); }
    // The cost; if it exceeds `limit`, any lower bound of it above `limit`.
    double exact(std::size_t k, std::size_t j, double limit) {
        const double stored = row(j)[k];
        return std::signbit(stored) ? -stored : compute_exact(k, j, limit);
    }
    const double* min_bounds(std::size_t j) const { return band_.min_bounds(j); }

private:
    double compute_exact(std::size_t k, std::size_t j, double limit);
    const Spans spans_;
    const std::size_t frames_;
    EdgeBand band_;
    std::atomic<std::size_t> next_{1};
};

// Writes the costs (frames, reach) of the spans i -> i + 1, i + 2, ...; infinite beyond the last frame. Returns false
// if interrupted.
bool inbetween_table(const Clip& clip, std::size_t reach, InbetweenKind kind, unsigned threads, bool (*keep_going)(),
                     double* out);

// Writes the costs of the spans between `count` increasing keys.
void inbetween_spans(const Clip& clip, InbetweenKind kind, const std::int32_t* keys, std::size_t count, double* out);

}  // namespace keypose
