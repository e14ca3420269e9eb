#include "chords.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd.hpp"

namespace keypose {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double max_rounding = 5e-15;     // of a cost, relative to the squared diameter; larger: cost_from_differences is used
constexpr std::size_t tile = 16;            // bounds of `tile` edges are computed at a time, from one frame in `tile`
constexpr std::size_t lanes = 32;           // distances computed at a time
constexpr std::size_t columns_at_once = 8;  // columns bounded together while the distances are in cache

// Computes the squared distances (lanes, lanes) of the frames `a` to the frames `b`, both (dims, lanes), from
// differences of coordinates: a Gram matrix would lose digits. The sums of four frames times eight others fit into the
// registers.
KEYPOSE_VECTOR void distance_tile(const double* a, const double* b, std::size_t dims, double* out) {
    for (std::size_t i = 0; i < lanes; i += 4)
        for (std::size_t l = 0; l < lanes; l += 8) {
            Four sum[4][2] = {};
            for (std::size_t d = 0; d < dims; ++d) {
                const Four b0 = four(b + d * lanes + l), b1 = four(b + d * lanes + l + 4);
                for (std::size_t q = 0; q < 4; ++q) {
                    const Four d0 = b0 - a[d * lanes + i + q], d1 = b1 - a[d * lanes + i + q];
                    sum[q][0] += d0 * d0;
                    sum[q][1] += d1 * d1;
                }
            }
            for (std::size_t q = 0; q < 4; ++q)
                for (std::size_t e = 0; e < 8; ++e) out[(i + q) * lanes + l + e] = sum[q][e / 4][e % 4];
        }
}

// Returns the squared distance of the point t to the line through i and j. With c = |ij|^2, x = |ti|^2, y = |tj|^2, the
// projection of t lies w = (x - y + c) / (2 sqrt c) from i, and the result is x - w^2. `r` and `h` are 0.5 / sqrt c and
// 0.5 sqrt c, both 0 where c = 0.
KEYPOSE_INLINE double square_to_chord(double x, double y, double r, double h) {
    const double w = r * (x - y) + h;
    return x - w * w;
}

KEYPOSE_INLINE void chord_factors(double c, double& r, double& h) {
    h = 0.5 * std::sqrt(c);
    r = c > 0 ? 0.25 / h : 0.0;
}

// Computes for `tile` edges i -> j the maximum or the sum of the squared distances of the frames t = from, from + step,
// ... < j to the chord. x points to the distances of the first t, with rows `stride` apart; y to those of j; c to those
// between i and j. Eight edges at a time stay in registers in the loop over t. `rounding` divided by the chord length
// bounds the rounding error of the maximum; it is subtracted, so the result is a lower bound.
template <bool is_sum_of_squares>
KEYPOSE_INLINE void edge_tile(const double* x, std::ptrdiff_t stride, const double* y, const double* c, std::size_t from,
                             std::size_t to, std::size_t step, double rounding, double* out) {
    for (std::size_t half = 0; half < tile; half += 8) {
        const Four c0 = four(c + half), c1 = four(c + half + 4), zero = {};
        const Four h0 = 0.5 * root(c0), h1 = 0.5 * root(c1), inverse0 = 0.25 / h0, inverse1 = 0.25 / h1;
        const Four r0 = c0 > zero ? inverse0 : zero, r1 = c1 > zero ? inverse1 : zero;
        Four worst0 = four(out + half), worst1 = four(out + half + 4);
        const double* row = x + half;
        for (std::size_t t = from; t < to; t += step, row += stride) {
            const Four y_t = {y[t], y[t], y[t], y[t]}, x0 = four(row), x1 = four(row + 4);
            const Four w0 = r0 * (x0 - y_t) + h0, w1 = r1 * (x1 - y_t) + h1;
            const Four d0 = x0 - w0 * w0, d1 = x1 - w1 * w1;
            if (is_sum_of_squares) {
                worst0 += d0 > zero ? d0 : zero;
                worst1 += d1 > zero ? d1 : zero;
            } else {
                worst0 = d0 > worst0 ? d0 : worst0;
                worst1 = d1 > worst1 ? d1 : worst1;
            }
        }
        if (rounding > 0) {
            const Four bound0 = worst0 - rounding * r0, bound1 = worst1 - rounding * r1;
            worst0 = bound0 > zero ? bound0 : zero;
            worst1 = bound1 > zero ? bound1 : zero;
        }
        for (std::size_t l = 0; l < 4; ++l) {
            out[half + l] = worst0[l];
            out[half + 4 + l] = worst1[l];
        }
    }
}

KEYPOSE_VECTOR void max_edge_tile(const double* x, std::ptrdiff_t stride, const double* y, const double* c,
                                     std::size_t from, std::size_t to, std::size_t step, double rounding, double* out) {
    edge_tile<false>(x, stride, y, c, from, to, step, rounding, out);
}

KEYPOSE_VECTOR void sum_edge_tile(const double* x, std::ptrdiff_t stride, const double* y, const double* c,
                                 std::size_t from, std::size_t to, std::size_t step, double rounding, double* out) {
    edge_tile<true>(x, stride, y, c, from, to, step, rounding, out);
}

// The largest squared distance of the frames strictly between k and j to their chord.
KEYPOSE_VECTOR double max_square_to_chord(const double* xs, const double* ys, std::size_t k, std::size_t j) {
    double r, h, worst = 0;
    chord_factors(ys[k], r, h);
    Four worst0 = {}, worst1 = {};
    std::size_t t = k + 1;
    for (; t + 8 <= j; t += 8) {
        const Four x0 = four(xs + t), x1 = four(xs + t + 4);
        const Four w0 = r * (x0 - four(ys + t)) + h, w1 = r * (x1 - four(ys + t + 4)) + h;
        const Four d0 = x0 - w0 * w0, d1 = x1 - w1 * w1;
        worst0 = d0 > worst0 ? d0 : worst0;
        worst1 = d1 > worst1 ? d1 : worst1;
    }
    for (; t < j; ++t) worst = std::max(worst, square_to_chord(xs[t], ys[t], r, h));
    for (std::size_t l = 0; l < 4; ++l) worst = std::max({worst, worst0[l], worst1[l]});
    return worst;
}

// Updates `so_far`, the sum or the maximum of these squares, with the frames from, from + step, ... < to.
KEYPOSE_VECTOR void add_squares_to_chord(bool is_sum_of_squares, const double* xs, const double* ys, std::size_t k, std::size_t from,
                                  std::size_t to, std::size_t step, double& so_far) {
    double r, h;
    chord_factors(ys[k], r, h);
    for (std::size_t t = from; t < to; t += step) {
        const double d = square_to_chord(xs[t], ys[t], r, h), off = d > 0 ? d : 0;
        so_far = is_sum_of_squares ? so_far + off : std::max(so_far, off);
    }
}

KEYPOSE_VECTOR double max_of(const double* values, std::size_t count) {
    Four max0 = {}, max1 = {};
    double result = 0;
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const Four v0 = four(values + i), v1 = four(values + i + 4);
        max0 = v0 > max0 ? v0 : max0;
        max1 = v1 > max1 ? v1 : max1;
    }
    for (; i < count; ++i) result = std::max(result, values[i]);
    for (std::size_t l = 0; l < 4; ++l) result = std::max({result, max0[l], max1[l]});
    return result;
}

KEYPOSE_VECTOR double min_of(const double* values, std::size_t count) {
    double minima[8];
    std::fill(minima, minima + 8, infinite);
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (std::size_t l = 0; l < 8; ++l) minima[l] = values[i + l] < minima[l] ? values[i + l] : minima[l];
    for (; i < count; ++i) minima[0] = std::min(minima[0], values[i]);
    return *std::min_element(minima, minima + 8);
}

}  // namespace

// The number of end frames j that are processed together.
static std::size_t window_of(std::size_t frames, std::size_t reach, std::size_t max_distances) {
    const std::size_t width = 2 * reach + 1;
    if (frames * std::min(frames, width) <= max_distances) return frames;
    const std::size_t window = std::max(reach, max_distances / width);
    return window + reach >= frames ? frames : window;  // all, if nearly all would be stored anyway
}

void Distances::cover(std::size_t first, std::size_t count, std::size_t reach) {
    first_ = first;
    count_ = count;
    reach_ = std::min(reach, count - 1);
    full_ = 2 * reach_ + 1 >= count;
    stride_ = full_ ? count : 2 * reach_ + 1;
    if (count_ * stride_ > capacity_) {
        capacity_ = count_ * stride_;
        values_.resize(capacity_);
    }
}

Chords::Chords(Points points, std::size_t reach, const std::vector<std::size_t>& first, Measure measure,
               std::size_t max_distances)
    : points_(points), reach_(reach), first_(first), measure_(measure),
      window_(window_of(points.frames, reach, max_distances)),
      exact_at_once_(window_ < points.frames || measure == Measure::sum_of_squares), row_blocks_(reach / block + 2),
      packed_((points.frames / lanes + 1) * points.dims * lanes),
      edges_(static_cast<std::size_t>(offset(points.frames) + static_cast<std::ptrdiff_t>(points.frames))),
      minima_(points.frames * row_blocks_) {
    if (!exact_at_once_ && reach + 1 >= points.frames) {
        const std::size_t rows = points.frames / tile + 1;
        samples_.resize(rows * rows * tile);
    }
    for (std::size_t t = 0; t < points.frames; ++t)
        for (std::size_t d = 0; d < points.dims; ++d)
            packed_[(t / lanes * points.dims + d) * lanes + t % lanes] = points.values[t * points.dims + d];
}

void Chords::prepare(ThreadPool& pool, unsigned thread) {
    for (std::size_t from = 0; from < points_.frames; from += window_) {
        const std::size_t to = std::min(points_.frames, from + window_), first = from > reach_ ? from - reach_ : 0;
        if (thread == 0) {
            distances_.cover(first, to - first, reach_);
            next_row_ = first / lanes * lanes;
            diameter_ = 0;
            next_column_ = 0;
        }
        if (!pool.wait_for_all()) return;
        measure_rows(pool, thread);
        if (!pool.wait_for_all()) return;
        if (!samples_.empty()) {
            gather_samples(pool, thread);
            if (!pool.wait_for_all()) return;
        }
        bound_columns(pool, thread, from, to);
        if (!pool.wait_for_all()) return;
    }
}

// Computes the distances tile by tile on and below the diagonal; each tile is also written transposed.
void Chords::measure_rows(ThreadPool& pool, unsigned thread) {
    double tile_distances[lanes * lanes], max_distance = 0;
    const std::size_t begin = distances_.first(), end = distances_.last(), reach = distances_.reach();
    for (std::size_t tile_row; (tile_row = next_row_.fetch_add(lanes)) < end && pool.should_continue(thread);) {
        const std::size_t first = std::max(begin, tile_row), last = std::min(end, tile_row + lanes);
        const std::size_t low = std::max(begin, first > reach ? first - reach : 0);
        for (std::size_t b = low / lanes * lanes; b < last; b += lanes) {
            distance_tile(packed_.data() + tile_row * points_.dims, packed_.data() + b * points_.dims, points_.dims, tile_distances);
            for (std::size_t a = first; a < last; ++a) {
                const std::size_t from = std::max({b, begin, a > reach ? a - reach : 0});
                const std::size_t to = std::min(b + lanes, a + 1);
                const double* row = tile_distances + (a - tile_row) * lanes;
                if (from >= to) continue;
                std::copy(row + (from - b), row + (to - b), distances_.row(a) + from);
                max_distance = std::max(max_distance, max_of(row + (from - b), to - from));
            }
            for (std::size_t c = std::max(b, begin); c < std::min(b + lanes, last); ++c) {
                double* row = distances_.row(c);
                for (std::size_t a = std::max(first, c); a < std::min(last, c + reach + 1); ++a)
                    row[a] = tile_distances[(a - tile_row) * lanes + (c - b)];
            }
        }
    }
    for (double so_far = diameter_; max_distance > so_far && !diameter_.compare_exchange_weak(so_far, max_distance);) {}
}

// Copies the distances of the frames that bounds are computed from, so that those of a tile of edges are contiguous.
void Chords::gather_samples(ThreadPool& pool, unsigned thread) {
    const std::size_t n = points_.frames, rows = n / tile + 1;
    for (std::size_t i; (i = next_sample_.fetch_add(tile)) + tile < n && pool.should_continue(thread);)
        for (std::size_t t = i + tile; t < n; t += tile)
            std::copy_n(distances_.row(t) + i, tile, &samples_[(i / tile * rows + t / tile) * tile]);
}

// Computes the bounds of the edges to the frames j in [from, to). Several columns j are processed at a time, so that
// the distances of a tile of frames are loaded once for all of them.
void Chords::bound_columns(ThreadPool& pool, unsigned thread, std::size_t from, std::size_t to) {
    for (std::size_t count; (count = next_column_.fetch_add(columns_at_once)) < to - from && pool.should_continue(thread);) {
        const std::size_t last = to - count;  // long columns first
        const std::size_t first = last > from + columns_at_once ? last - columns_at_once : from;
        std::size_t min_first = last;
        for (std::size_t j = first; j < last; ++j) {
            double* out = edges_.get() + offset(j);
            if (j == 0) continue;
            std::fill(out + first_[j], out + j, 0.0);
            min_first = std::min(min_first, first_[j]);
        }
        for (std::size_t i = min_first / tile * tile; i + tile < last; i += tile)
            for (std::size_t j = std::max(first, i + 1); j < last; ++j) {
                double* out = edges_.get() + offset(j);
                if (i >= first_[j] && i + tile < j)
                    bound_tile(j, i, out);
                else if (i + tile > first_[j] && i < first_[j])
                    bound_one_by_one(j, first_[j], std::min(i + tile, j), out);
            }
        for (std::size_t j = std::max<std::size_t>(first, 1); j < last; ++j) {
            const std::size_t rest = std::max(first_[j], (j - 1) / tile * tile);  // after the last full tile
            if (exact_at_once_) bound_one_by_one(j, rest, j, edges_.get() + offset(j));
            finish(j);
        }
    }
}

void Chords::bound_tile(std::size_t j, std::size_t i, double* out) const {
    const std::size_t step = exact_at_once_ ? 1 : tile, t = i + tile;
    const double* y = distances_.row(j);
    if (samples_.empty()) {
        const auto add_tile = is_sum() ? sum_edge_tile : max_edge_tile;
        const std::ptrdiff_t stride = distances_.stride() * static_cast<std::ptrdiff_t>(step);
        add_tile(distances_.row(t) + i, stride, y, y + i, t, j, step, rounding(), out + i);
    } else {
        const double* x = &samples_[(i / tile * (points_.frames / tile + 1) + t / tile) * tile];
        max_edge_tile(x, tile, y, y + i, t, j, step, rounding(), out + i);
    }
    if (exact_at_once_)  // also the frames within the tile, for the edges from earlier frames of it
        for (std::size_t k = i; k + 1 < t; ++k) add_squares_to_chord(is_sum(), distances_.row(k), y, k, k + 1, t, 1, out[k]);
}

void Chords::bound_one_by_one(std::size_t j, std::size_t from, std::size_t to, double* out) const {
    const std::size_t step = exact_at_once_ ? 1 : tile;
    for (std::size_t k = from; k < to; ++k) {
        out[k] = 0;
        add_squares_to_chord(is_sum(), distances_.row(k), distances_.row(j), k, k + 1, j, step, out[k]);
        const double c = distances_.row(j)[k];
        if (c > 0) out[k] = std::max(0.0, out[k] - rounding() * 0.5 / std::sqrt(c));
    }
}

// x - w^2 has an error of about eps x sqrt(x / c), which is large where the two keys nearly coincide, as at the ends of
// a loop.
double Chords::rounding() const {
    return exact_at_once_ ? 0 : 16 * epsilon * diameter_ * std::sqrt(diameter_);  // divided by 0.5 / sqrt c
}

bool Chords::has_large_rounding_error(std::size_t k, std::size_t j) const {
    const double c = distances_.row(j)[k], limit = max_rounding * std::sqrt(c) * diameter_ / epsilon;
    if (c == 0 || diameter_ * std::sqrt(diameter_) <= limit) return false;
    const double max_distance = max_of(distances_.row(k) + k + 1, j - k - 1);
    return max_distance * std::sqrt(max_distance) > limit;
}

double Chords::cost_from_differences(std::size_t k, std::size_t j) const {
    const std::size_t dims = points_.dims;
    const double *a = points_.values + k * dims, *b = points_.values + j * dims;
    double c = 0, sum = 0, worst = 0;
    for (std::size_t d = 0; d < dims; ++d) c += (b[d] - a[d]) * (b[d] - a[d]);
    for (std::size_t t = k + 1; t < j; ++t) {
        const double* p = points_.values + t * dims;
        double along = 0, off = 0;
        for (std::size_t d = 0; d < dims; ++d) along += (p[d] - a[d]) * (b[d] - a[d]);
        along /= c;
        for (std::size_t d = 0; d < dims; ++d) {
            const double across = p[d] - a[d] - along * (b[d] - a[d]);
            off += across * across;
        }
        sum += off;
        worst = std::max(worst, off);
    }
    return is_sum() ? sum : worst;
}

// Completes column j: replaces inaccurate costs, takes square roots, computes the minima of the blocks, and marks exact
// costs by a negative sign.
void Chords::finish(std::size_t j) {
    double* out = edges_.get() + offset(j);
    const std::size_t from = first_[j];
    if (exact_at_once_)
        for (std::size_t k = from; k < j; ++k)
            if (has_large_rounding_error(k, j)) out[k] = cost_from_differences(k, j);
    if (measure_ == Measure::max_distance)
        for (std::size_t k = from; k < j; ++k) out[k] = std::sqrt(out[k]);
    for (std::size_t k = from; k < j;) {
        const std::size_t end = std::min(j, (k / block + 1) * block);
        minima_[j * row_blocks_ + k / block - from / block] = min_of(out + k, end - k);
        k = end;
    }
    for (std::size_t k = exact_at_once_ ? from : j - 1; k < j; ++k) out[k] = -out[k];
}

double Chords::compute_exact(std::size_t k, std::size_t j) {
    const double largest_square = max_square_to_chord(distances_.row(k), distances_.row(j), k, j);
    const double squared = has_large_rounding_error(k, j) ? cost_from_differences(k, j) : largest_square;
    const double cost = measure_ == Measure::max_distance ? std::sqrt(squared) : squared;
    (edges_.get() + offset(j))[k] = -cost;
    return cost;
}

}  // namespace keypose
