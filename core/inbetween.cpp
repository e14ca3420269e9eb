#include "inbetween.hpp"

#include <algorithm>
#include <limits>

namespace keypose {
namespace {

constexpr std::size_t lanes = 4;
constexpr double infinite = std::numeric_limits<double>::infinity();
// Relative and absolute margin by which bounds are reduced, as rounding might raise them above the cost.
constexpr double rounding = 1e-9;

KEYPOSE_INLINE Four broadcast(double value) { return Four{value, value, value, value}; }
KEYPOSE_INLINE LooseFour* as_fours(std::vector<double>& values) { return reinterpret_cast<LooseFour*>(values.data()); }
KEYPOSE_INLINE Four larger(Four a, Four b) { return a > b ? a : b; }

// Sine of angles from 0 to pi / 2 by its Taylor series, exact to the last digit.
KEYPOSE_INLINE Four sine(Four x) {
    const Four square = x * x;
    Four sum = broadcast(-1.0 / 121645100408832000);
    for (const double factorial : {355687428096000.0, -1307674368000.0, 6227020800.0, -39916800.0, 362880.0, -5040.0,
                                   120.0, -6.0})
        sum = sum * square + broadcast(1.0 / factorial);
    return x + x * square * sum;
}

// Sums over the inner frames of a span, with the parameter s in (0, 1), of the tangent functions a = s (1 - s)^2 and
// b = -s^2 (1 - s): of each, of each times s, and the inverse of the matrix of the sums of their products.
struct TangentSums {
    double a, b, a_s, b_s, inverse_aa, inverse_ab, inverse_bb;
};

KEYPOSE_INLINE TangentSums tangent_sums(std::size_t frames) {
    const double g = static_cast<double>(frames), g3 = g * g * g, g5 = g3 * g * g;
    const double a = (g - 1 / g) / 12, aa = g / 105 - 1 / (30 * g3) + 1 / (42 * g5);  // bb is the same
    const double ab = -g / 140 - 1 / (60 * g3) + 1 / (42 * g5);
    TangentSums sums = {a, -a, (g - 1 / g3) / 30, -g / 20 + 1 / (12 * g) - 1 / (30 * g3), 0, 0, 0};
    if (frames == 2) {  // one inner frame for two tangents: the parabola through it
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
      errors_(kind.straight ? (kind.mean ? &Spans::errors_straight_mean : &Spans::errors_straight_max)
                            : (kind.mean ? &Spans::errors_mean : &Spans::errors_max)) {
    const std::size_t n = clip.joints;
    std::vector<char> is_needed(n, 0), has_children(n, 0), is_moving(n, 0);
    for (std::size_t j = n; j-- > 0;) {
        is_needed[j] = has_children[j] || clip.weights[j] > 0;
        if (is_needed[j] && clip.parents[j] >= 0) has_children[static_cast<std::size_t>(clip.parents[j])] = 1;
        for (std::size_t t = 1; t < frames_ && !is_moving[j]; ++t)
            is_moving[j] = !std::equal(clip.translations + j * 3, clip.translations + j * 3 + 3,
                                   clip.translations + (t * n + j) * 3);
    }
    std::vector<int> position(n, -1);
    std::vector<const double*> sources;  // of each channel: its value in the first frame; the next are `strides` apart
    std::vector<std::size_t> strides;
    std::size_t targets = 0;
    for (std::size_t j = 0; j < n; ++j) {
        if (!is_needed[j]) continue;
        Joint joint{};
        joint.parent = clip.parents[j] < 0 ? -1 : position[static_cast<std::size_t>(clip.parents[j])];
        const auto channel = [&](const double* values, std::size_t width) {
            const int at = static_cast<int>(sources.size());
            for (std::size_t c = 0; c < width; ++c) {
                sources.push_back(values + j * width + c);
                strides.push_back(n * width);
            }
            return at;
        };
        joint.rotation = has_children[j] ? channel(clip.rotations, 4) : -1;
        joint.translation = is_moving[j] ? channel(clip.translations, 3) : -1;
        std::copy_n(clip.translations + j * 3, 3, joint.offset);
        joint.weight = clip.weights[j];
        joint.target = targets;
        if (joint.weight > 0) targets += 3, ++n_measured_;
        position[j] = static_cast<int>(joints_.size());
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
        if (position[j] >= 0 && clip.weights[j] > 0)
            for (std::size_t axis = 0; axis < 3; ++axis)
                for (std::size_t t = 0; t < frames_; ++t)
                    targets_[(joints_[static_cast<std::size_t>(position[j])].target + axis) * target_stride_ + t] =
                        clip.positions[(t * n + j) * 3 + axis];
    still_since_ = still_since();
}

// Returns for each frame the first frame of the run of identical frames that ends in it.
std::vector<std::size_t> Spans::still_since() const {
    std::vector<std::size_t> since(frames_, 0);
    for (std::size_t t = 1; t < frames_; ++t) {
        const double* row_values = values_.data() + t * width_;
        bool same = width_ == 0 || std::equal(row_values, row_values + width_, row_values - width_);
        for (std::size_t row = 0; row < targets_.size() && same; row += target_stride_)
            same = targets_[row + t] == targets_[row + t - 1];
        since[t] = same ? since[t - 1] : t;
    }
    return since;
}

void Spans::allocate(Workspace& workspace) const {
    for (auto* buffer : {&workspace.coefficients[0], &workspace.coefficients[1], &workspace.coefficients[2], &workspace.coefficients[3],
                       &workspace.by_a, &workspace.by_b, &workspace.moments[0], &workspace.moments[1], &workspace.moments[2]})
        buffer->resize(width_);
    workspace.world_positions.resize(joints_.size() * 3 * lanes);
    workspace.world_rotations.resize(joints_.size() * 4 * lanes);
    workspace.scales.resize(joints_.size() * lanes);
    workspace.angles.resize(joints_.size());
    workspace.factors.resize(joints_.size());
}

template <bool straight, bool mean>
KEYPOSE_INLINE void Spans::errors(const double* parameters, const std::size_t* frames, Workspace& workspace, double* out) const {
    const Four parameter = four(parameters);
    const double* const c[4] = {workspace.coefficients[0].data(), workspace.coefficients[1].data(), workspace.coefficients[2].data(),
                                workspace.coefficients[3].data()};
    LooseFour *world_positions = as_fours(workspace.world_positions), *world_rotations = as_fours(workspace.world_rotations), *scales = as_fours(workspace.scales);
    const auto curve = [&](int at) __attribute__((always_inline)) {
        return broadcast(c[0][at]) + parameter * (broadcast(c[1][at]) + parameter * (broadcast(c[2][at]) + parameter * broadcast(c[3][at])));
    };
    Four result = {};
    for (std::size_t i = 0; i < joints_.size(); ++i) {
        const Joint& joint = joints_[i];
        const bool is_root = joint.parent < 0;
        const std::size_t parent = is_root ? 0 : static_cast<std::size_t>(joint.parent);
        Four v[3];
        for (int axis = 0; axis < 3; ++axis)
            v[axis] = joint.translation < 0 ? broadcast(joint.offset[axis]) : curve(joint.translation + axis);
        LooseFour* position = world_positions + i * 3;
        if (is_root) {
            for (int axis = 0; axis < 3; ++axis) position[axis] = v[axis];
        } else {
            // For a quaternion q = (w, u) of any length, q v q* / |q|^2 = v + 2 (w (u x v) + u x (u x v)) / |q|^2.
            const LooseFour *q = world_rotations + parent * 4, *o = world_positions + parent * 3;
            const Four scale = scales[parent];
            const Four x = q[2] * v[2] - q[3] * v[1], y = q[3] * v[0] - q[1] * v[2], z = q[1] * v[1] - q[2] * v[0];
            position[0] = o[0] + v[0] + scale * (q[0] * x + q[2] * z - q[3] * y);
            position[1] = o[1] + v[1] + scale * (q[0] * y + q[3] * x - q[1] * z);
            position[2] = o[2] + v[2] + scale * (q[0] * z + q[1] * y - q[2] * x);
        }
        if (joint.rotation >= 0) {
            Four l[4];
            if (straight) {
                const Four angle = broadcast(workspace.angles[i]), factor = broadcast(workspace.factors[i]);
                const bool is_still = workspace.factors[i] == 0;
                const Four from = is_still ? broadcast(1) - parameter : factor * sine(angle - parameter * angle);
                const Four to = is_still ? parameter : factor * sine(parameter * angle);
                for (int w = 0; w < 4; ++w) l[w] = from * broadcast(c[0][joint.rotation + w]) + to * broadcast(c[1][joint.rotation + w]);
            } else {
                for (int w = 0; w < 4; ++w) l[w] = curve(joint.rotation + w);
            }
            LooseFour* q = world_rotations + i * 4;
            if (is_root) {
                for (int w = 0; w < 4; ++w) q[w] = l[w];
            } else {
                const LooseFour* p = world_rotations + parent * 4;
                q[0] = p[0] * l[0] - p[1] * l[1] - p[2] * l[2] - p[3] * l[3];
                q[1] = p[0] * l[1] + p[1] * l[0] + p[2] * l[3] - p[3] * l[2];
                q[2] = p[0] * l[2] - p[1] * l[3] + p[2] * l[0] + p[3] * l[1];
                q[3] = p[0] * l[3] + p[1] * l[2] - p[2] * l[1] + p[3] * l[0];
            }
            const Four square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
            scales[i] = broadcast(2) / (square > broadcast(0) ? square : broadcast(1));
        }
        if (joint.weight > 0) {
            const double* target = targets_.data() + joint.target * target_stride_;
            Four square = {};
            for (int axis = 0; axis < 3; ++axis, target += target_stride_) {
                const Four target_position = {target[frames[0]], target[frames[1]], target[frames[2]], target[frames[3]]};
                square += (position[axis] - target_position) * (position[axis] - target_position);
            }
            square *= broadcast(joint.weight);
            result = mean ? result + root(square) : larger(result, square);
        }
    }
    for (std::size_t l = 0; l < lanes; ++l) out[l] = result[l];
}

KEYPOSE_VECTOR void Spans::errors_max(const double* parameter, const std::size_t* frames, Workspace& workspace, double* result) const {
    errors<false, false>(parameter, frames, workspace, result);
}
KEYPOSE_VECTOR void Spans::errors_mean(const double* parameter, const std::size_t* frames, Workspace& workspace, double* result) const {
    errors<false, true>(parameter, frames, workspace, result);
}
KEYPOSE_VECTOR void Spans::errors_straight_max(const double* parameter, const std::size_t* frames, Workspace& workspace, double* result) const {
    errors<true, false>(parameter, frames, workspace, result);
}
KEYPOSE_VECTOR void Spans::errors_straight_mean(const double* parameter, const std::size_t* frames, Workspace& workspace, double* result) const {
    errors<true, true>(parameter, frames, workspace, result);
}

// The cost of up to four frames k + steps[0], ... of the current span. If the cost is the largest error, its square.
double Spans::frame_cost(std::size_t k, std::size_t j, const std::size_t* steps, std::size_t count, Workspace& workspace) const {
    double parameter[lanes], result[lanes];
    std::size_t frames[lanes];
    for (std::size_t l = 0; l < lanes; ++l) {
        const std::size_t step = steps[std::min(l, count - 1)];
        parameter[l] = static_cast<double>(step) / static_cast<double>(j - k);
        frames[l] = k + step;
    }
    (this->*errors_)(parameter, frames, workspace, result);
    double cost = result[0];
    for (std::size_t l = 1; l < count; ++l) cost = combine(cost, result[l]);
    return cost;
}

// Sums the differences of the inner frames from the first key, times the two tangent functions of the span.
KEYPOSE_VECTOR void Spans::compute_sums(std::size_t k, std::size_t j, Workspace& workspace) const {
    LooseFour *by_a = as_fours(workspace.by_a), *by_b = as_fours(workspace.by_b);
    const LooseFour* from = row(k);
    const std::size_t fours = width_ / lanes;
    for (std::size_t c = 0; c < fours; ++c) by_a[c] = by_b[c] = Four{};
    for (std::size_t t = k + 1; t < j; ++t) {
        const double s = static_cast<double>(t - k) / static_cast<double>(j - k);
        const Four a = broadcast(s * (1 - s) * (1 - s)), b = broadcast(-s * s * (1 - s));
        const LooseFour* row_values = row(t);
        for (std::size_t c = 0; c < fours; ++c) {
            const Four difference = row_values[c] - from[c];
            by_a[c] += a * difference;
            by_b[c] += b * difference;
        }
    }
}

// Updates these sums after the span has grown by one frame at its start. The tangent functions are cubics, so three
// moments are sufficient.
KEYPOSE_VECTOR void Spans::update_sums(std::size_t k, std::size_t j, Workspace& workspace) const {
    LooseFour *by_a = as_fours(workspace.by_a), *by_b = as_fours(workspace.by_b);
    LooseFour *first = as_fours(workspace.moments[0]), *second = as_fours(workspace.moments[1]), *third = as_fours(workspace.moments[2]);
    const LooseFour *from = row(k), *row_values = row(k + 1), *to = row(j);
    const TangentSums g = tangent_sums(j - k);
    const double inner_frames = static_cast<double>(j - k - 1), per_gap = 1 / static_cast<double>(j - k);
    const Four w1 = broadcast(inner_frames), w2 = broadcast(inner_frames * inner_frames), w3 = broadcast(inner_frames * inner_frames * inner_frames);
    const Four g1 = broadcast(per_gap), g2 = broadcast(per_gap * per_gap), g3 = broadcast(per_gap * per_gap * per_gap);
    for (std::size_t c = 0; c < width_ / lanes; ++c) {
        const Four difference = row_values[c] - to[c], change = to[c] - from[c];
        first[c] += w1 * difference;
        second[c] += w2 * difference;
        third[c] += w3 * difference;
        by_a[c] = second[c] * g2 - third[c] * g3 + change * broadcast(g.a);
        by_b[c] = broadcast(2) * second[c] * g2 - first[c] * g1 - third[c] * g3 + change * broadcast(g.b);
    }
}

// Computes the least-squares cubic of each channel from its sums.
KEYPOSE_VECTOR void Spans::fit(std::size_t k, std::size_t j, Workspace& workspace) const {
    const LooseFour *from = row(k), *to = row(j), *by_a = as_fours(workspace.by_a), *by_b = as_fours(workspace.by_b);
    LooseFour* const out[4] = {as_fours(workspace.coefficients[0]), as_fours(workspace.coefficients[1]), as_fours(workspace.coefficients[2]),
                               as_fours(workspace.coefficients[3])};
    const TangentSums g = tangent_sums(j - k);
    for (std::size_t c = 0; c < width_ / lanes; ++c) {
        const Four change = to[c] - from[c];
        const Four a = by_a[c] - broadcast(g.a_s) * change, b = by_b[c] - broadcast(g.b_s) * change;  // relative to the chord
        const Four start = broadcast(g.inverse_aa) * a + broadcast(g.inverse_ab) * b;  // tangents relative to that of the chord
        const Four end = broadcast(g.inverse_ab) * a + broadcast(g.inverse_bb) * b;
        out[0][c] = from[c];
        out[1][c] = change + start;
        out[2][c] = -(broadcast(2) * start + end);
        out[3][c] = start + end;
    }
}

// Prepares interpolation at constant speed: linear for translations, spherical for rotations.
void Spans::set_straight(std::size_t k, std::size_t j, Workspace& workspace) const {
    const double *q = values_.data() + k * width_, *r = values_.data() + j * width_;
    double* end_values = workspace.coefficients[1].data();
    for (std::size_t c = 0; c < width_; ++c) {
        workspace.coefficients[0][c] = q[c];
        end_values[c] = r[c] - q[c];
        workspace.coefficients[2][c] = workspace.coefficients[3][c] = 0;
    }
    for (std::size_t i = 0; i < joints_.size(); ++i) {
        const int at = joints_[i].rotation;
        if (at < 0) continue;
        double cosine = 0, distance_square = 0;
        for (int w = at; w < at + 4; ++w) cosine += q[w] * r[w];
        const double sign = cosine < 0 ? -1 : 1;  // the shorter rotation
        for (int w = at; w < at + 4; ++w) {
            end_values[w] = sign * r[w];
            distance_square += (end_values[w] - q[w]) * (end_values[w] - q[w]);
        }
        workspace.angles[i] = 2 * std::asin(std::min(1.0, 0.5 * std::sqrt(distance_square)));
        workspace.factors[i] = workspace.angles[i] > 1e-7 ? 1 / std::sin(workspace.angles[i]) : 0;
    }
}

double Spans::cost(std::size_t k, std::size_t j, double limit, Workspace& workspace) const {
    if (j - k < 2) return 0;
    if (kind_.straight) {
        set_straight(k, j, workspace);
    } else {
        compute_sums(k, j, workspace);
        fit(k, j, workspace);
    }
    // The margin ensures that the root of a larger cost exceeds the limit, too.
    const double limit_cost = (kind_.mean ? limit * n_measured_ : limit * limit) * (1 + 1e-12);
    // Frames that are far apart are evaluated together, so that a large error is found early.
    const std::size_t inner = j - k - 1, stride = (inner + lanes - 1) / lanes;
    double cost = 0;
    for (std::size_t first = 1; first <= stride && cost <= limit_cost; ++first) {
        std::size_t steps[lanes], count = 0;
        for (std::size_t step = first; step <= inner; step += stride) steps[count++] = step;
        cost = combine(cost, frame_cost(k, j, steps, count, workspace));
    }
    return to_cost(cost);
}

void Spans::bounds(std::size_t j, std::size_t first, double* out, Workspace& workspace) const {
    for (auto& moment : workspace.moments) std::fill(moment.begin(), moment.end(), 0.0);
    out[j - 1] = -0.0;
    for (std::size_t k = j - 1; k-- > first;) {
        const std::size_t gap = j - k;
        if (k >= still_since_[j]) {  // no movement: no error
            out[k] = -0.0;
            continue;
        }
        if (kind_.straight) {
            set_straight(k, j, workspace);
        } else {
            update_sums(k, j, workspace);
            fit(k, j, workspace);
        }
        if (gap <= lanes + 1) {  // all inner frames are evaluated
            const std::size_t steps[lanes] = {1, 2, 3, 4};
            out[k] = -to_cost(frame_cost(k, j, steps, gap - 1, workspace));
        } else {
            const std::size_t steps[lanes] = {std::max<std::size_t>(1, gap / 8), gap * 3 / 8, gap * 5 / 8, gap * 7 / 8};
            out[k] = std::max(0.0, to_cost(frame_cost(k, j, steps, lanes, workspace)) * (1 - rounding) - rounding);
        }
    }
}

void Inbetweens::prepare(ThreadPool& pool, unsigned thread) {
    Spans::Workspace workspace;
    spans_.allocate(workspace);
    for (std::size_t j; (j = next_.fetch_add(1)) < frames_ && pool.should_continue(thread);) {
        spans_.bounds(j, band_.first(j), band_.row(j), workspace);
        band_.finish(j);
    }
    pool.wait_for_all();
}

double Inbetweens::compute_exact(std::size_t k, std::size_t j, double limit) {
    static thread_local Spans::Workspace workspace;
    spans_.allocate(workspace);
    const double cost = spans_.cost(k, j, limit, workspace);
    band_.row(j)[k] = cost > limit ? cost : -cost;
    return cost;
}

bool inbetween_table(const Clip& clip, std::size_t reach, InbetweenKind kind, unsigned threads, bool (*keep_going)(),
                     double* out) {
    const Spans spans(clip, kind);
    std::atomic<std::size_t> next{0};
    ThreadPool pool(std::max(1u, threads), keep_going);
    return pool.run([&](unsigned thread) {
        Spans::Workspace workspace;
        spans.allocate(workspace);
        for (std::size_t k; (k = next.fetch_add(1)) < clip.frames && pool.should_continue(thread);)
            for (std::size_t gap = 1; gap <= reach; ++gap)
                out[k * reach + gap - 1] =
                    k + gap < clip.frames ? spans.cost(k, k + gap, infinite, workspace) : infinite;
    });
}

void inbetween_spans(const Clip& clip, InbetweenKind kind, const std::int32_t* keys, std::size_t count, double* out) {
    const Spans spans(clip, kind);
    Spans::Workspace workspace;
    spans.allocate(workspace);
    for (std::size_t i = 1; i < count; ++i)
        out[i - 1] = spans.cost(static_cast<std::size_t>(keys[i - 1]), static_cast<std::size_t>(keys[i]), infinite, workspace);
}

}  // namespace keypose
