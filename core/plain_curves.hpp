// Keys of plain curves: the errors of the cubics through two samples, and the fewest keys within a tolerance.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd.hpp"

namespace keypose {

// Curves that get keys at the same samples.
struct PlainCurves {
    const double* times = nullptr;   // (samples) increasing
    const double* values = nullptr;  // (curves, samples)
    const double* scales = nullptr;  // (curves) cost of a span: the largest error times scale of any curve
    const double* limits = nullptr;  // (curves) a span with a larger error of this curve has an infinite cost
    std::size_t samples = 0, curves = 0;
    bool straight = false;  // spans are straight; else least-squares cubics with tangents of their own
};

// The spans between two samples. The error of a span is the largest distance of its cubic from a sample inside, or
// from the range of two neighbouring samples between these, see `ranges`: so no cubic overshoots.
class PlainSpans {
public:
    explicit PlainSpans(const PlainCurves& curves);

    // Sums over the samples inside the spans that end at one sample. The start moves back, sample by sample.
    struct Workspace {
        std::size_t end = 0, start = 0;
        double powers[7];                     // of the times before the end
        std::vector<double> moments;          // (curves, 3)
        std::vector<std::size_t> worst;       // (curves) the sample that refused the last span
    };
    // Moves to the span between the sample before `end` and `end`.
    void begin(std::size_t end, Workspace& workspace) const;
    // Moves the start of the span to the sample before it.
    void step_back(Workspace& workspace) const;
    // The cost of the span; infinite if it exceeds `limit`, or an error its limit.
    double cost(double limit, Workspace& workspace) const;
    // Writes the tangents (2, curves) at the start and the end of the span, per unit of time.
    void tangents(const Workspace& workspace, double* out) const;

private:
    struct Cubic {
        double value, linear, square, cube;  // coefficients in the share of the span
        double start_tangent, end_tangent;
    };
    struct Fit;  // what the curves of a span have in common

    Fit prepare(const Workspace& workspace) const;
    Cubic fit(const Fit& fit, const Workspace& workspace, std::size_t curve) const;
    double sample_error(const Fit& fit, const Cubic& cubic, const double* values, std::size_t sample) const;
    double overshoot(const Fit& fit, const Cubic& cubic, std::size_t curve) const;
    double largest_error(const Fit& fit, const Cubic& cubic, const double* values, double limit, std::size_t& worst) const;

    const PlainCurves p_;
    std::vector<double> lowest_, highest_;  // (curves, samples - 1) the ranges between neighbouring samples
};

// Writes the costs (samples, reach) of the spans i -> i + 1, i + 2, ...; infinite above the limits and beyond the last
// sample. Returns false if interrupted.
bool plain_costs(const PlainCurves& curves, std::size_t reach, double limit, unsigned threads, bool (*keep_going)(),
                 double* out);

// Returns the selection with the fewest keys that is within the limits, of these one whose most expensive span is
// cheapest; empty if interrupted. The memory is that of a few arrays of samples.
std::vector<std::int32_t> plain_fewest_keys(const PlainCurves& curves, bool (*keep_going)());

// Writes the tangents (count - 1, 2, curves) of the spans between `count` increasing keys.
void plain_tangents(const PlainCurves& curves, const std::int32_t* keys, std::size_t count, double* out);

}  // namespace keypose
