#include "inbetween.hpp"

#include <algorithm>
#include <limits>

namespace keypose {
namespace {

constexpr std::size_t lanes = 4;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-9;  // by which a bound may be above the cost, relative and absolute

KEYPOSE_INLINE Four all(double value) { return Four{value, value, value, value}; }
KEYPOSE_INLINE LooseFour* loose(std::vector<double>& values) { return reinterpret_cast<LooseFour*>(values.data()); }
KEYPOSE_INLINE Four larger(Four a, Four b) { return a > b ? a : b; }

// From 0 to a quarter turn, to the last digit: the series of the sine.
KEYPOSE_INLINE Four sine(Four x) {
    const Four square = x * x;
    Four sum = all(-1.0 / 121645100408832000);
    for (const double factorial : {355687428096000.0, -1307674368000.0, 6227020800.0, -39916800.0, 362880.0, -5040.0,
                                   120.0, -6.0})
        sum = sum * square + all(1.0 / factorial);
    return x + x * square * sum;
}

// Sums over the inner frames of a span, at parts s of it, of its slope functions a = s (1 - s)^2 and b = -s^2 (1 - s):
// alone, times s, and, inverted, times each other.
struct Sums {
    double a, b, a_s, b_s, inverse_aa, inverse_ab, inverse_bb;
};

KEYPOSE_INLINE Sums sums_of(std::size_t frames) {
    const double g = static_cast<double>(frames), g3 = g * g * g, g5 = g3 * g * g;
    const double a = (g - 1 / g) / 12, aa = g / 105 - 1 / (30 * g3) + 1 / (42 * g5);  // bb is the same
    const double ab = -g / 140 - 1 / (60 * g3) + 1 / (42 * g5);
    Sums sums = {a, -a, (g - 1 / g3) / 30, -g / 20 + 1 / (12 * g) - 1 / (30 * g3), 0, 0, 0};
    if (frames == 2) {  // one frame for two slopes: the parabola through it
        sums.inverse_aa = sums.inverse_bb = 1 / (aa - ab);
    } else {
        const double determinant = aa * aa - ab * ab;
        sums.inverse_aa = sums.inverse_bb = aa / determinant;
        sums.inverse_ab = -ab / determinant;
    }
    return sums;
}

}  // namespace

Spans::Spans(const Clip& clip, InbetweenKind kind)
    : frames_(clip.frames), kind_(kind),
      errors_(kind.straight ? (kind.mean ? &Spans::errors_straight_mean : &Spans::errors_straight_largest)
                            : (kind.mean ? &Spans::errors_mean : &Spans::errors_largest)) {
    const std::size_t n = clip.joints;
    std::vector<char> matters(n, 0), carries(n, 0), moves(n, 0);
    for (std::size_t j = n; j-- > 0;) {
        matters[j] = carries[j] || clip.weights[j] > 0;
        if (matters[j] && clip.parents[j] >= 0) carries[static_cast<std::size_t>(clip.parents[j])] = 1;
        for (std::size_t t = 1; t < frames_ && !moves[j]; ++t)
            moves[j] = !std::equal(clip.translations + j * 3, clip.translations + j * 3 + 3,
                                   clip.translations + (t * n + j) * 3);
    }
    std::vector<int> place(n, -1);
    std::vector<const double*> sources;  // of each channel, its value in the first frame
    std::vector<std::size_t> strides;
    std::size_t targets = 0;
    for (std::size_t j = 0; j < n; ++j) {
        if (!matters[j]) continue;
        Joint joint{};
        joint.parent = clip.parents[j] < 0 ? -1 : place[static_cast<std::size_t>(clip.parents[j])];
        const auto channel = [&](const double* values, std::size_t width) {
            const int at = static_cast<int>(sources.size());
            for (std::size_t c = 0; c < width; ++c) {
                sources.push_back(values + j * width + c);
                strides.push_back(n * width);
            }
            return at;
        };
        joint.turn = carries[j] ? channel(clip.rotations, 4) : -1;
        joint.shift = moves[j] ? channel(clip.translations, 3) : -1;
        std::copy_n(clip.translations + j * 3, 3, joint.offset);
        joint.weight = clip.weights[j];
        joint.target = targets;
        if (joint.weight > 0) targets += 3, ++counted_;
        place[j] = static_cast<int>(joints_.size());
        joints_.push_back(joint);
    }
    width_ = (sources.size() + lanes - 1) / lanes * lanes;
    values_.assign(frames_ * width_, 0.0);
    for (std::size_t t = 0; t < frames_; ++t)
        for (std::size_t c = 0; c < sources.size(); ++c)
            values_[t * width_ + c] = sources[c][t * strides[c]];
    target_stride_ = frames_ + lanes;
    targets_.assign(targets * target_stride_, 0.0);
    for (std::size_t j = 0; j < n; ++j)
        if (place[j] >= 0 && clip.weights[j] > 0)
            for (std::size_t axis = 0; axis < 3; ++axis)
                for (std::size_t t = 0; t < frames_; ++t)
                    targets_[(joints_[static_cast<std::size_t>(place[j])].target + axis) * target_stride_ + t] =
                        clip.positions[(t * n + j) * 3 + axis];
    still_since_ = still_since();
}

// From which frame on up to each frame all are the same.
std::vector<std::size_t> Spans::still_since() const {
    std::vector<std::size_t> since(frames_, 0);
    for (std::size_t t = 1; t < frames_; ++t) {
        const double* here = &values_[t * width_];
        bool same = width_ == 0 || std::equal(here, here + width_, here - width_);
        for (std::size_t row = 0; row < targets_.size() && same; row += target_stride_)
            same = targets_[row + t] == targets_[row + t - 1];
        since[t] = same ? since[t - 1] : t;
    }
    return since;
}

void Spans::lay_out(Desk& desk) const {
    for (auto* some : {&desk.coefficients[0], &desk.coefficients[1], &desk.coefficients[2], &desk.coefficients[3],
                       &desk.by_a, &desk.by_b, &desk.moments[0], &desk.moments[1], &desk.moments[2]})
        some->resize(width_);
    desk.places.resize(joints_.size() * 3 * lanes);
    desk.turns.resize(joints_.size() * 4 * lanes);
    desk.shrinks.resize(joints_.size() * lanes);
    desk.angles.resize(joints_.size());
    desk.factors.resize(joints_.size());
}

template <bool straight, bool mean>
KEYPOSE_INLINE void Spans::errors(const double* parts, const std::size_t* frames, Desk& desk, double* out) const {
    const Four part = four(parts);
    const double* const c[4] = {desk.coefficients[0].data(), desk.coefficients[1].data(), desk.coefficients[2].data(),
                                desk.coefficients[3].data()};
    LooseFour *places = loose(desk.places), *turns = loose(desk.turns), *shrinks = loose(desk.shrinks);
    const auto curve = [&](int at) __attribute__((always_inline)) {
        return all(c[0][at]) + part * (all(c[1][at]) + part * (all(c[2][at]) + part * all(c[3][at])));
    };
    Four found = {};
    for (std::size_t i = 0; i < joints_.size(); ++i) {
        const Joint& joint = joints_[i];
        const bool is_root = joint.parent < 0;
        const std::size_t parent = is_root ? 0 : static_cast<std::size_t>(joint.parent);
        Four v[3];
        for (int axis = 0; axis < 3; ++axis)
            v[axis] = joint.shift < 0 ? all(joint.offset[axis]) : curve(joint.shift + axis);
        LooseFour* place = places + i * 3;
        if (is_root) {
            for (int axis = 0; axis < 3; ++axis) place[axis] = v[axis];
        } else {
            // With q of any length, q v q* / |q|^2 = v + 2 (w (u x v) + u x (u x v)) / |q|^2.
            const LooseFour *q = turns + parent * 4, *o = places + parent * 3;
            const Four shrink = shrinks[parent];
            const Four x = q[2] * v[2] - q[3] * v[1], y = q[3] * v[0] - q[1] * v[2], z = q[1] * v[1] - q[2] * v[0];
            place[0] = o[0] + v[0] + shrink * (q[0] * x + q[2] * z - q[3] * y);
            place[1] = o[1] + v[1] + shrink * (q[0] * y + q[3] * x - q[1] * z);
            place[2] = o[2] + v[2] + shrink * (q[0] * z + q[1] * y - q[2] * x);
        }
        if (joint.turn >= 0) {
            Four l[4];
            if (straight) {
                const Four angle = all(desk.angles[i]), factor = all(desk.factors[i]);
                const bool is_still = desk.factors[i] == 0;
                const Four from = is_still ? all(1) - part : factor * sine(angle - part * angle);
                const Four to = is_still ? part : factor * sine(part * angle);
                for (int w = 0; w < 4; ++w) l[w] = from * all(c[0][joint.turn + w]) + to * all(c[1][joint.turn + w]);
            } else {
                for (int w = 0; w < 4; ++w) l[w] = curve(joint.turn + w);
            }
            LooseFour* q = turns + i * 4;
            if (is_root) {
                for (int w = 0; w < 4; ++w) q[w] = l[w];
            } else {
                const LooseFour* p = turns + parent * 4;
                q[0] = p[0] * l[0] - p[1] * l[1] - p[2] * l[2] - p[3] * l[3];
                q[1] = p[0] * l[1] + p[1] * l[0] + p[2] * l[3] - p[3] * l[2];
                q[2] = p[0] * l[2] - p[1] * l[3] + p[2] * l[0] + p[3] * l[1];
                q[3] = p[0] * l[3] + p[1] * l[2] - p[2] * l[1] + p[3] * l[0];
            }
            const Four square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
            shrinks[i] = all(2) / (square > all(0) ? square : all(1));
        }
        if (joint.weight > 0) {
            const double* target = targets_.data() + joint.target * target_stride_;
            Four square = {};
            for (int axis = 0; axis < 3; ++axis, target += target_stride_) {
                const Four wanted = {target[frames[0]], target[frames[1]], target[frames[2]], target[frames[3]]};
                square += (place[axis] - wanted) * (place[axis] - wanted);
            }
            square *= all(joint.weight);
            found = mean ? found + root(square) : larger(found, square);
        }
    }
    for (std::size_t l = 0; l < lanes; ++l) out[l] = found[l];
}

KEYPOSE_VECTOR void Spans::errors_largest(const double* part, const std::size_t* frames, Desk& desk, double* found) const {
    errors<false, false>(part, frames, desk, found);
}
KEYPOSE_VECTOR void Spans::errors_mean(const double* part, const std::size_t* frames, Desk& desk, double* found) const {
    errors<false, true>(part, frames, desk, found);
}
KEYPOSE_VECTOR void Spans::errors_straight_largest(const double* part, const std::size_t* frames, Desk& desk, double* found) const {
    errors<true, false>(part, frames, desk, found);
}
KEYPOSE_VECTOR void Spans::errors_straight_mean(const double* part, const std::size_t* frames, Desk& desk, double* found) const {
    errors<true, true>(part, frames, desk, found);
}

// What up to four frames k + steps[0], ... of the span at hand cost, the largest error squared.
double Spans::seen(std::size_t k, std::size_t j, const std::size_t* steps, std::size_t count, Desk& desk) const {
    double part[lanes], found[lanes];
    std::size_t frames[lanes];
    for (std::size_t l = 0; l < lanes; ++l) {
        const std::size_t step = steps[std::min(l, count - 1)];
        part[l] = static_cast<double>(step) / static_cast<double>(j - k);
        frames[l] = k + step;
    }
    (this->*errors_)(part, frames, desk, found);
    double cost = found[0];
    for (std::size_t l = 1; l < count; ++l) cost = joined(cost, found[l]);
    return cost;
}

// Sums over the inner frames of what they are off the first key, by the two slope functions of the span.
KEYPOSE_VECTOR void Spans::sum_up(std::size_t k, std::size_t j, Desk& desk) const {
    LooseFour *by_a = loose(desk.by_a), *by_b = loose(desk.by_b);
    const LooseFour* from = row(k);
    const std::size_t fours = width_ / lanes;
    for (std::size_t c = 0; c < fours; ++c) by_a[c] = by_b[c] = Four{};
    for (std::size_t t = k + 1; t < j; ++t) {
        const double s = static_cast<double>(t - k) / static_cast<double>(j - k);
        const Four a = all(s * (1 - s) * (1 - s)), b = all(-s * s * (1 - s));
        const LooseFour* here = row(t);
        for (std::size_t c = 0; c < fours; ++c) {
            const Four off = here[c] - from[c];
            by_a[c] += a * off;
            by_b[c] += b * off;
        }
    }
}

// The same where the span grew by its first frame: the slope functions are cubics, so three moments are enough.
KEYPOSE_VECTOR void Spans::sum_up_moments(std::size_t k, std::size_t j, Desk& desk) const {
    LooseFour *by_a = loose(desk.by_a), *by_b = loose(desk.by_b);
    LooseFour *first = loose(desk.moments[0]), *second = loose(desk.moments[1]), *third = loose(desk.moments[2]);
    const LooseFour *from = row(k), *here = row(k + 1), *to = row(j);
    const Sums g = sums_of(j - k);
    const double way = static_cast<double>(j - k - 1), per_gap = 1 / static_cast<double>(j - k);
    const Four w1 = all(way), w2 = all(way * way), w3 = all(way * way * way);
    const Four g1 = all(per_gap), g2 = all(per_gap * per_gap), g3 = all(per_gap * per_gap * per_gap);
    for (std::size_t c = 0; c < width_ / lanes; ++c) {
        const Four off = here[c] - to[c], climb = to[c] - from[c];
        first[c] += w1 * off;
        second[c] += w2 * off;
        third[c] += w3 * off;
        by_a[c] = second[c] * g2 - third[c] * g3 + climb * all(g.a);
        by_b[c] = all(2) * second[c] * g2 - first[c] * g1 - third[c] * g3 + climb * all(g.b);
    }
}

// The cubic of each channel from its sums.
KEYPOSE_VECTOR void Spans::fit(std::size_t k, std::size_t j, Desk& desk) const {
    const LooseFour *from = row(k), *to = row(j), *by_a = loose(desk.by_a), *by_b = loose(desk.by_b);
    LooseFour* const out[4] = {loose(desk.coefficients[0]), loose(desk.coefficients[1]), loose(desk.coefficients[2]),
                               loose(desk.coefficients[3])};
    const Sums g = sums_of(j - k);
    for (std::size_t c = 0; c < width_ / lanes; ++c) {
        const Four climb = to[c] - from[c];
        const Four a = by_a[c] - all(g.a_s) * climb, b = by_b[c] - all(g.b_s) * climb;  // beside the chord
        const Four start = all(g.inverse_aa) * a + all(g.inverse_ab) * b;  // slopes beside that of the chord
        const Four end = all(g.inverse_ab) * a + all(g.inverse_bb) * b;
        out[0][c] = from[c];
        out[1][c] = climb + start;
        out[2][c] = -(all(2) * start + end);
        out[3][c] = start + end;
    }
}

void Spans::straighten(std::size_t k, std::size_t j, Desk& desk) const {
    const double *q = &values_[k * width_], *r = &values_[j * width_];
    double* other = desk.coefficients[1].data();
    for (std::size_t c = 0; c < width_; ++c) {
        desk.coefficients[0][c] = q[c];
        other[c] = r[c] - q[c];
        desk.coefficients[2][c] = desk.coefficients[3][c] = 0;
    }
    for (std::size_t i = 0; i < joints_.size(); ++i) {
        const int at = joints_[i].turn;
        if (at < 0) continue;
        double cosine = 0, apart = 0;
        for (int w = at; w < at + 4; ++w) cosine += q[w] * r[w];
        const double sign = cosine < 0 ? -1 : 1;  // the shorter way
        for (int w = at; w < at + 4; ++w) {
            other[w] = sign * r[w];
            apart += (other[w] - q[w]) * (other[w] - q[w]);
        }
        desk.angles[i] = 2 * std::asin(std::min(1.0, 0.5 * std::sqrt(apart)));
        desk.factors[i] = desk.angles[i] > 1e-7 ? 1 / std::sin(desk.angles[i]) : 0;
    }
}

double Spans::cost(std::size_t k, std::size_t j, double limit, Desk& desk) const {
    if (j - k < 2) return 0;
    if (kind_.straight) {
        straighten(k, j, desk);
    } else {
        sum_up(k, j, desk);
        fit(k, j, desk);
    }
    const double most = (kind_.mean ? limit * counted_ : limit * limit) * (1 + 1e-12);  // so that a root is above, too
    // Frames that are far from each other together, so that a large error shows soon.
    const std::size_t inner = j - k - 1, stride = (inner + lanes - 1) / lanes;
    double cost = 0;
    for (std::size_t first = 1; first <= stride && cost <= most; ++first) {
        std::size_t steps[lanes], count = 0;
        for (std::size_t step = first; step <= inner; step += stride) steps[count++] = step;
        cost = joined(cost, seen(k, j, steps, count, desk));
    }
    return in_units(cost);
}

void Spans::bounds(std::size_t j, std::size_t first, double* out, Desk& desk) const {
    for (auto& moment : desk.moments) std::fill(moment.begin(), moment.end(), 0.0);
    out[j - 1] = -0.0;
    for (std::size_t k = j - 1; k-- > first;) {
        const std::size_t gap = j - k;
        if (k >= still_since_[j]) {  // nothing moves: nothing is to be seen
            out[k] = -0.0;
            continue;
        }
        if (kind_.straight) {
            straighten(k, j, desk);
        } else {
            sum_up_moments(k, j, desk);
            fit(k, j, desk);
        }
        if (gap <= lanes + 1) {  // all of its frames are looked at
            const std::size_t steps[lanes] = {1, 2, 3, 4};
            out[k] = -in_units(seen(k, j, steps, gap - 1, desk));
        } else {
            const std::size_t steps[lanes] = {std::max<std::size_t>(1, gap / 8), gap * 3 / 8, gap * 5 / 8, gap * 7 / 8};
            out[k] = std::max(0.0, in_units(seen(k, j, steps, lanes, desk)) * (1 - rounding) - rounding);
        }
    }
}

void Inbetweens::prepare(Team& team, unsigned thread) {
    Spans::Desk desk;
    spans_.lay_out(desk);
    for (std::size_t j; (j = next_.fetch_add(1)) < frames_ && team.goes_on(thread);) {
        spans_.bounds(j, band_.first(j), band_.row(j), desk);
        band_.finish(j);
    }
    team.meet();
}

double Inbetweens::made_exact(std::size_t k, std::size_t j, double limit) {
    static thread_local Spans::Desk desk;
    spans_.lay_out(desk);
    const double cost = spans_.cost(k, j, limit, desk);
    band_.row(j)[k] = cost > limit ? cost : -cost;
    return cost;
}

bool inbetween_table(const Clip& clip, std::size_t reach, InbetweenKind kind, unsigned threads, bool (*keep_going)(),
                     double* out) {
    const Spans spans(clip, kind);
    std::atomic<std::size_t> next{0};
    Team team(std::max(1u, threads), keep_going);
    return team.run([&](unsigned thread) {
        Spans::Desk desk;
        spans.lay_out(desk);
        for (std::size_t k; (k = next.fetch_add(1)) < clip.frames && team.goes_on(thread);)
            for (std::size_t gap = 1; gap <= reach; ++gap)
                out[k * reach + gap - 1] =
                    k + gap < clip.frames ? spans.cost(k, k + gap, infinite, desk) : infinite;
    });
}

void inbetween_spans(const Clip& clip, InbetweenKind kind, const std::int32_t* keys, std::size_t count, double* out) {
    const Spans spans(clip, kind);
    Spans::Desk desk;
    spans.lay_out(desk);
    for (std::size_t i = 1; i < count; ++i)
        out[i - 1] = spans.cost(static_cast<std::size_t>(keys[i - 1]), static_cast<std::size_t>(keys[i]), infinite, desk);
}

}  // namespace keypose
