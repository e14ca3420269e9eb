// No multiplication and addition are fused here, so that costs are exactly the errors that Python computes.
#include "plain_curves.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "thread_pool.hpp"

namespace keypose {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double min_determinant = 1e-6;  // relative: with a smaller one the samples determine only a parabola
constexpr std::size_t quick_samples = 8;  // samples that are tested before all others

double bend(const double* t, const double* v, std::size_t i) {
    return 2.0 * ((v[i + 1] - v[i]) / (t[i + 1] - t[i]) - (v[i] - v[i - 1]) / (t[i] - t[i - 1])) / (t[i + 1] - t[i - 1]);
}

}  // namespace

// The range between two neighbouring samples is that of their values. Where these differ and the curve bends in the same
// direction at both, it may have an extremum between them, beyond both: a parabola by up to an eighth of the smaller second
// derivative, times the squared time. Twice that is allowed.
PlainSpans::PlainSpans(const PlainCurves& curves)
    : p_(curves), lowest_(curves.curves * (curves.samples - 1)), highest_(lowest_.size()) {
    const std::size_t n = p_.samples;
    const double* t = p_.times;
    for (std::size_t c = 0; c < p_.curves; ++c) {
        const double* v = p_.values + c * n;
        double *low = lowest_.data() + c * (n - 1), *high = highest_.data() + c * (n - 1);
        for (std::size_t i = 0; i + 1 < n; ++i) {
            const bool may_bend = i > 0 && i + 2 < n && v[i] != v[i + 1];
            const double before = may_bend ? bend(t, v, i) : 0.0, after = may_bend ? bend(t, v, i + 1) : 0.0;
            const double scale = 0.25 * (t[i + 1] - t[i]) * (t[i + 1] - t[i]);
            low[i] = std::min(v[i], v[i + 1]) - scale * std::max(0.0, std::min(before, after));
            high[i] = std::max(v[i], v[i + 1]) + scale * std::max(0.0, std::min(-before, -after));
        }
    }
}

void PlainSpans::begin(std::size_t end, Workspace& workspace) const {
    workspace.end = end;
    workspace.start = end - 1;
    std::fill_n(workspace.powers, 7, 0.0);
    workspace.moments.assign(3 * p_.curves, 0.0);
    workspace.worst.assign(p_.curves, 0);
}

void PlainSpans::step_back(Workspace& workspace) const {
    if (!p_.straight) {
        const std::size_t i = workspace.start, end = workspace.end;  // the sample that is now inside
        const double x = p_.times[end] - p_.times[i];
        double power = 1.0;
        for (double& sum : workspace.powers) {
            sum += power;
            power *= x;
        }
        for (std::size_t c = 0; c < p_.curves; ++c) {
            const double* v = p_.values + c * p_.samples;
            double* moments = workspace.moments.data() + 3 * c;
            double term = v[i] - v[end];
            for (std::size_t k = 0; k < 3; ++k) {
                term *= x;
                moments[k] += term;
            }
        }
    }
    --workspace.start;
}

struct PlainSpans::Fit {
    std::size_t start, end;
    double start_time, length, per_time;
    double powers[7];  // sums of the powers of u, the share of the span that is left
    double aa, ab, bb, determinant, qq;
};

// The cubic of a span is the chord plus alpha a + beta b, with a = s (1 - s)^2 and b = -s^2 (1 - s) in the share s = 1 - u.
PlainSpans::Fit PlainSpans::prepare(const Workspace& workspace) const {
    Fit f;
    f.start = workspace.start;
    f.end = workspace.end;
    f.start_time = p_.times[f.start];
    f.length = p_.times[f.end] - f.start_time;
    f.per_time = 1.0 / f.length;
    double factor = 1.0;
    for (int k = 0; k < 7; ++k) {
        f.powers[k] = workspace.powers[k] * factor;
        factor *= f.per_time;
    }
    const double* s = f.powers;
    f.aa = s[4] - 2.0 * s[5] + s[6];
    f.ab = -(s[3] - 3.0 * s[4] + 3.0 * s[5] - s[6]);
    f.bb = s[2] - 4.0 * s[3] + 6.0 * s[4] - 4.0 * s[5] + s[6];
    f.determinant = f.aa * f.bb - f.ab * f.ab;
    f.qq = s[2] - 2.0 * s[3] + s[4];
    if (f.end - f.start < 3 || !(f.determinant > min_determinant * f.aa * f.bb)) f.determinant = 0.0;
    return f;
}

PlainSpans::Cubic PlainSpans::fit(const Fit& f, const Workspace& workspace, std::size_t curve) const {
    const double* v = p_.values + curve * p_.samples;
    const double rise = v[f.end] - v[f.start];
    double alpha = 0.0, beta = 0.0;
    if (!p_.straight && f.end - f.start > 1) {
        const double* m = workspace.moments.data() + 3 * curve;
        const double w1 = m[0] * f.per_time, w2 = m[1] * f.per_time * f.per_time;
        const double w3 = m[2] * f.per_time * f.per_time * f.per_time;
        const double* s = f.powers;
        if (f.determinant > 0.0) {
            const double by_a = (w2 - w3) + rise * (s[3] - s[4]);
            const double by_b = -((w1 - 2.0 * w2 + w3) + rise * (s[2] - 2.0 * s[3] + s[4]));
            alpha = (f.bb * by_a - f.ab * by_b) / f.determinant;
            beta = (f.aa * by_b - f.ab * by_a) / f.determinant;
        } else if (f.qq > 0.0) {  // the parabola that is closest to the samples
            alpha = ((w1 - w2) + rise * (s[2] - s[3])) / f.qq;
            beta = -alpha;
        }
    }
    Cubic cubic;
    cubic.value = v[f.start];
    cubic.start_tangent = (rise + alpha) / f.length;
    cubic.end_tangent = (rise + beta) / f.length;
    // As in ReducedCurve.sample, operation by operation.
    cubic.linear = f.length * cubic.start_tangent;
    const double last = f.length * cubic.end_tangent;
    cubic.square = 3.0 * rise - 2.0 * cubic.linear - last;
    cubic.cube = cubic.linear + last - 2.0 * rise;
    return cubic;
}

double PlainSpans::sample_error(const Fit& f, const Cubic& cubic, const double* values, std::size_t i) const {
    const double s = (p_.times[i] - f.start_time) * f.per_time;
    return std::fabs(cubic.value + s * (cubic.linear + s * (cubic.square + s * cubic.cube)) - values[i]);
}

double PlainSpans::overshoot(const Fit& f, const Cubic& cubic, std::size_t curve) const {
    const double a = 3.0 * cubic.cube, b = cubic.square, c = cubic.linear;  // a s^2 + 2 b s + c = 0 at extrema
    const double discriminant = b * b - a * c;
    if (!(discriminant >= 0.0)) return 0.0;
    const double q = -(b + std::copysign(std::sqrt(discriminant), b));
    const double roots[2] = {q / a, c / q};
    const double *low = lowest_.data() + curve * (p_.samples - 1), *high = highest_.data() + curve * (p_.samples - 1);
    double result = 0.0;
    for (const double s : roots) {
        if (!(s > 0.0 && s < 1.0)) continue;
        const double time = f.start_time + s * f.length;
        const double* after = std::upper_bound(p_.times + f.start + 1, p_.times + f.end, time);
        const std::size_t i = static_cast<std::size_t>(after - p_.times) - 1;
        const double value = cubic.value + s * (cubic.linear + s * (cubic.square + s * cubic.cube));
        result = std::max(result, std::max(value - high[i], low[i] - value));
    }
    return result;
}

// Returns the largest error at the samples inside; if it exceeds `limit`, any lower bound of it above `limit`.
double PlainSpans::largest_error(const Fit& f, const Cubic& cubic, const double* v, double limit,
                                 std::size_t& worst) const {
    if (worst > f.start && worst < f.end) {
        const double error = sample_error(f, cubic, v, worst);
        if (error > limit) return error;
    }
    const std::size_t count = f.end - f.start - 1;
    if (limit < infinite && count > 4 * quick_samples) {
        for (std::size_t k = 0; k < quick_samples; ++k) {
            const std::size_t i = f.start + 1 + (2 * k + 1) * count / (2 * quick_samples);
            const double error = sample_error(f, cubic, v, i);
            if (error > limit) return worst = i, error;
        }
    }
    Four largest = {};
    std::size_t i = f.start + 1;
    for (; i + 4 <= f.end; i += 4) {
        const Four times = *reinterpret_cast<const LooseFour*>(p_.times + i);
        const Four s = (times - f.start_time) * f.per_time;
        const Four values = *reinterpret_cast<const LooseFour*>(v + i);
        const Four error = magnitude(cubic.value + s * (cubic.linear + s * (cubic.square + s * cubic.cube)) - values);
        largest = error > largest ? error : largest;
        if ((i - f.start) % 32 < 4 && std::max({largest[0], largest[1], largest[2], largest[3]}) > limit) {
            worst = i + 3;
            return std::max({largest[0], largest[1], largest[2], largest[3]});
        }
    }
    double result = std::max({largest[0], largest[1], largest[2], largest[3]});
    for (; i < f.end; ++i) result = std::max(result, sample_error(f, cubic, v, i));
    return result;
}

double PlainSpans::cost(double limit, Workspace& workspace) const {
    if (workspace.end - workspace.start < 2) return 0.0;
    const Fit f = prepare(workspace);
    double result = 0.0;
    for (std::size_t c = 0; c < p_.curves; ++c) {
        const Cubic cubic = fit(f, workspace, c);
        const double* v = p_.values + c * p_.samples;
        const double max_error = std::min(p_.limits[c], limit / p_.scales[c] * (1.0 + 1e-12));  // with rounding
        double error = largest_error(f, cubic, v, max_error, workspace.worst[c]);
        if (error > p_.limits[c] || error * p_.scales[c] > limit) return infinite;
        if (!p_.straight) error = std::max(error, overshoot(f, cubic, c));
        if (error > p_.limits[c] || error * p_.scales[c] > limit) return infinite;
        result = std::max(result, error * p_.scales[c]);
    }
    return result;
}

void PlainSpans::tangents(const Workspace& workspace, double* out) const {
    const Fit f = prepare(workspace);
    for (std::size_t c = 0; c < p_.curves; ++c) {
        const Cubic cubic = fit(f, workspace, c);
        out[c] = cubic.start_tangent;
        out[p_.curves + c] = cubic.end_tangent;
    }
}

bool plain_costs(const PlainCurves& curves, std::size_t reach, double limit, unsigned threads, bool (*keep_going)(),
                 double* out) {
    const PlainSpans spans(curves);
    std::fill_n(out, curves.samples * reach, infinite);
    std::atomic<std::size_t> next{1};
    ThreadPool pool(std::max(1u, threads), keep_going);
    return pool.run([&](unsigned thread) {
        PlainSpans::Workspace workspace;
        for (std::size_t j; (j = next.fetch_add(1)) < curves.samples && pool.should_continue(thread);) {
            spans.begin(j, workspace);
            for (std::size_t gap = 1;; ++gap) {
                out[(j - gap) * reach + gap - 1] = spans.cost(limit, workspace);
                if (gap == std::min(j, reach)) break;
                spans.step_back(workspace);
            }
        }
    });
}

std::vector<std::int32_t> plain_fewest_keys(const PlainCurves& curves, bool (*keep_going)()) {
    const PlainSpans spans(curves);
    const std::size_t n = curves.samples;
    std::vector<std::int32_t> counts(n, 1), keys;  // counts: the fewest keys up to each sample, both included
    ThreadPool pool(1, keep_going);
    pool.run([&](unsigned thread) {
        PlainSpans::Workspace workspace;
        for (std::size_t j = 1; j < n; ++j) {
            if (!pool.should_continue(thread)) return;
            spans.begin(j, workspace);
            counts[j] = counts[j - 1] + 1;
            while (workspace.start > 0) {
                spans.step_back(workspace);
                const std::int32_t count = counts[workspace.start] + 1;
                if (count < counts[j] && spans.cost(infinite, workspace) < infinite) counts[j] = count;
            }
        }
        // Back over the samples that are the key of this number in a selection with the fewest keys. costs: of the
        // cheapest such selection from a sample on, the cost of its most expensive span.
        std::vector<double> costs(n, infinite);
        std::vector<std::int32_t> following(n, -1);
        std::vector<std::size_t> level{n - 1};
        costs[n - 1] = 0.0;
        for (std::int32_t count = counts[n - 1] - 1; count > 0; --count) {
            std::vector<std::size_t> previous;
            for (const std::size_t j : level) {
                if (!pool.should_continue(thread)) return;
                spans.begin(j, workspace);
                for (;;) {
                    const std::size_t k = workspace.start;
                    if (counts[k] == count && costs[j] < costs[k]) {
                        const double cost = std::max(costs[j], spans.cost(costs[k], workspace));
                        if (cost < costs[k]) {
                            if (following[k] < 0) previous.push_back(k);
                            costs[k] = cost;
                            following[k] = static_cast<std::int32_t>(j);
                        }
                    }
                    if (k == 0) break;
                    spans.step_back(workspace);
                }
            }
            level.swap(previous);
        }
        for (std::int32_t k = 0; k >= 0; k = following[static_cast<std::size_t>(k)]) keys.push_back(k);
    });
    return keys;
}

void plain_tangents(const PlainCurves& curves, const std::int32_t* keys, std::size_t count, double* out) {
    const PlainSpans spans(curves);
    PlainSpans::Workspace workspace;
    for (std::size_t k = 0; k + 1 < count; ++k) {
        spans.begin(static_cast<std::size_t>(keys[k + 1]), workspace);
        while (workspace.start > static_cast<std::size_t>(keys[k])) spans.step_back(workspace);
        spans.tangents(workspace, out + 2 * curves.curves * k);
    }
}

}  // namespace keypose
