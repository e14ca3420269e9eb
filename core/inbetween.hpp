// How far a figure strays between two keys when the curves that will be exported take it from one to the other.
#pragma once
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "band.hpp"
#include "team.hpp"
#include "vector.hpp"

namespace keypose {

// A clip of a figure. Rotations are quaternions wxyz whose signs go on from frame to frame.
struct Clip {
    const std::int32_t* parents = nullptr;  // (joints) before their children; -1 marks a root
    const double* translations = nullptr;   // (frames, joints, 3) local
    const double* rotations = nullptr;      // (frames, joints, 4) local
    const double* positions = nullptr;      // (frames, joints, 3) in the world: where joints ought to be
    const double* weights = nullptr;        // (joints) of the squared error; 0 where a joint does not count
    std::size_t frames = 0, joints = 0;
};

struct InbetweenKind {
    bool straight = false;  // constant speed, else the cubic that comes closest to all frames
    bool mean = false;      // cost: the error summed over frames, of the mean joint; else the largest one
};

// The spans between keys of one clip, one after another.
class Spans {
public:
    Spans(const Clip& clip, InbetweenKind kind);

    // Room to look at one span in; each thread has its own.
    struct Desk {
        std::vector<double> coefficients[4];         // of each channel, over the part of the span
        std::vector<double> by_a, by_b, moments[3];  // sums over the frames of the span
        std::vector<double> places, turns, shrinks;  // of each joint in the world, in four frames
        std::vector<double> angles, factors;         // of straight turns
    };
    void lay_out(Desk& desk) const;

    // The cost of the span from k to j; or, once it is seen to be above `limit`, what has been seen of it.
    double cost(std::size_t k, std::size_t j, double limit, Desk& desk) const;
    // Lower bounds of the costs of the spans k -> j, k from `first` to j - 1, in out[k]; the sign marks exact ones.
    void bounds(std::size_t j, std::size_t first, double* out, Desk& desk) const;

private:
    // One joint that counts, or on which one hangs that does.
    struct Joint {
        int parent;       // its place in this list, or -1
        int turn, shift;  // its first channel; -1: nothing hangs on it; it stays at its offset
        double offset[3];
        double weight;
        std::size_t target;  // its first row of targets
    };

    // The largest weighted squared error of four frames, or their errors summed over joints.
    template <bool straight, bool mean>
    KEYPOSE_INLINE void errors(const double* parts, const std::size_t* frames, Desk& desk, double* out) const;
    void errors_largest(const double* part, const std::size_t* frames, Desk& desk, double* found) const;
    void errors_mean(const double* part, const std::size_t* frames, Desk& desk, double* found) const;
    void errors_straight_largest(const double* part, const std::size_t* frames, Desk& desk, double* found) const;
    void errors_straight_mean(const double* part, const std::size_t* frames, Desk& desk, double* found) const;
    double seen(std::size_t k, std::size_t j, const std::size_t* steps, std::size_t count, Desk& desk) const;
    double joined(double cost, double more) const { return kind_.mean ? cost + more : std::max(cost, more); }
    double in_units(double cost) const { return kind_.mean ? cost / counted_ : std::sqrt(cost); }
    const LooseFour* row(std::size_t frame) const {
        return reinterpret_cast<const LooseFour*>(values_.data() + frame * width_);
    }
    std::vector<std::size_t> still_since() const;
    void sum_up(std::size_t k, std::size_t j, Desk& desk) const;
    void sum_up_moments(std::size_t k, std::size_t j, Desk& desk) const;
    void fit(std::size_t k, std::size_t j, Desk& desk) const;
    void straighten(std::size_t k, std::size_t j, Desk& desk) const;

    const std::size_t frames_;
    const InbetweenKind kind_;
    void (Spans::*const errors_)(const double*, const std::size_t*, Desk&, double*) const;
    std::vector<Joint> joints_;
    double counted_ = 0;        // how many joints count
    std::size_t width_ = 0;        // channels, in whole fours
    std::vector<double> values_;   // (frames, width)
    std::vector<double> targets_;  // (counted joints x 3, frames + padding)
    std::size_t target_stride_ = 0;
    std::vector<std::size_t> still_since_;
};

// The same to a search as Chords.
class Inbetweens {
public:
    Inbetweens(const Clip& clip, std::size_t reach, const std::vector<std::size_t>& first, InbetweenKind kind)
        : spans_(clip, kind), frames_(clip.frames), band_(clip.frames, reach, first) {}
    void prepare(Team& team, unsigned thread);
    const double* row(std::size_t j) const { return band_.row(j); }
    // The cost; or, where it is above `limit`, some lower bound of it that is above, too.
    double exact(std::size_t k, std::size_t j, double limit) {
        const double stored = row(j)[k];
        return std::signbit(stored) ? -stored : made_exact(k, j, limit);
    }
    const double* least_bounds(std::size_t j) const { return band_.least_bounds(j); }

private:
    double made_exact(std::size_t k, std::size_t j, double limit);
    const Spans spans_;
    const std::size_t frames_;
    Band band_;
    std::atomic<std::size_t> next_{1};
};

// (frames, reach) costs of the spans i -> i + 1, i + 2, ...; infinite beyond the last frame. False if stopped.
bool inbetween_table(const Clip& clip, std::size_t reach, InbetweenKind kind, unsigned threads, bool (*keep_going)(),
                     double* out);

// The costs of the spans between `count` increasing keys.
void inbetween_spans(const Clip& clip, InbetweenKind kind, const std::int32_t* keys, std::size_t count, double* out);

}  // namespace keypose
