#include "salient.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

// Vector code for newer processors beside plain code. Neither fuses multiply and add, so that both, and any
// number of threads, give the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define KEYPOSE_VECTOR __attribute__((target_clones("avx2", "default"), optimize("fp-contract=off")))
#else
#define KEYPOSE_VECTOR
#endif

namespace keypose {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t sampled = 16;  // every so many frames are looked at for the lower bound of an edge
constexpr std::size_t block = 64;    // frames that the search passes over together
constexpr std::size_t lanes = 32;

// Squared distances of frames at most `reach` apart; row t holds frames t - reach to t + reach.
class Distances {
public:
    Distances(const SalientProblem& p, std::size_t reach)
        : frames_(p.frames), reach_(std::min(reach, p.frames - 1)), full_(2 * reach_ + 1 >= p.frames),
          stride_(full_ ? p.frames : 2 * reach_ + 1), values_(new double[frames_ * stride_]) {}

    // row(a)[b] is the squared distance of frames a and b.
    double* row(std::size_t a) { return values_.get() + offset(a); }
    const double* row(std::size_t a) const { return values_.get() + offset(a); }
    std::size_t reach() const { return reach_; }

private:
    std::ptrdiff_t offset(std::size_t a) const {
        const auto at = static_cast<std::ptrdiff_t>(a * stride_);
        return full_ ? at : at + static_cast<std::ptrdiff_t>(reach_) - static_cast<std::ptrdiff_t>(a);
    }
    std::size_t frames_, reach_;
    bool full_;
    std::size_t stride_;
    std::unique_ptr<double[]> values_;
};

// Squared distances of frame a to `lanes` frames from b on: by direct differences, since a Gram matrix loses
// digits. `columns` is the transposed points, each column padded to `padded` frames.
KEYPOSE_VECTOR void distances_to(const double* columns, std::size_t padded, std::size_t dims, std::size_t a,
                                 std::size_t b, double* out) {
    double sum[lanes] = {};
    for (std::size_t d = 0; d < dims; ++d) {
        const double* column = columns + d * padded;
        const double here = column[a];
        for (std::size_t l = 0; l < lanes; ++l) {
            const double difference = column[b + l] - here;
            sum[l] += difference * difference;
        }
    }
    for (std::size_t l = 0; l < lanes; ++l) out[l] = sum[l];
}

// With c = |ij|^2, x = |ti|^2, y = |tj|^2, the foot of t on the line i j lies w = (x - y + c) / (2 sqrt c)
// from i, and t is x - w^2 off, squared. `r` and `h` are 0.5 / sqrt c and 0.5 sqrt c, both 0 where c = 0.
inline double off_chord(double x, double y, double r, double h) {
    const double w = r * (x - y) + h;
    return x - w * w;
}

// out[i] = max(out[i], how far each of four frames t is off the chord i j), for i in [from, to).
KEYPOSE_VECTOR void raise_by_four(const double* const x[4], const double y[4], const double* r, const double* h,
                                  std::size_t from, std::size_t to, double* out) {
    const double *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    const double y0 = y[0], y1 = y[1], y2 = y[2], y3 = y[3];
    for (std::size_t i = from; i < to; ++i) {
        const double ri = r[i], hi = h[i];
        const double d0 = off_chord(x0[i], y0, ri, hi), d1 = off_chord(x1[i], y1, ri, hi);
        const double d2 = off_chord(x2[i], y2, ri, hi), d3 = off_chord(x3[i], y3, ri, hi);
        const double a = d0 > d1 ? d0 : d1, b = d2 > d3 ? d2 : d3, c = a > b ? a : b;
        out[i] = c > out[i] ? c : out[i];
    }
}

KEYPOSE_VECTOR void raise_by_one(const double* x, double y, const double* r, const double* h, std::size_t from,
                                 std::size_t to, double* out) {
    for (std::size_t i = from; i < to; ++i) {
        const double d = off_chord(x[i], y, r[i], h[i]);
        out[i] = d > out[i] ? d : out[i];
    }
}

KEYPOSE_VECTOR void add_one(const double* x, double y, const double* r, const double* h, std::size_t from,
                            std::size_t to, double* out) {
    for (std::size_t i = from; i < to; ++i) {
        const double d = off_chord(x[i], y, r[i], h[i]);
        out[i] += d > 0 ? d : 0;
    }
}

KEYPOSE_VECTOR void chord_factors(const double* c, std::size_t from, std::size_t to, double* r, double* h) {
    for (std::size_t i = from; i < to; ++i) {
        const double length = std::sqrt(c[i]);
        h[i] = 0.5 * length;
        r[i] = c[i] > 0 ? 0.5 / length : 0.0;
    }
}

// The largest squared distance of the frames strictly between k and j off their chord.
KEYPOSE_VECTOR double largest_off_chord(const double* xs, const double* ys, std::size_t k, std::size_t j,
                                        double c) {
    const double length = std::sqrt(c), h = 0.5 * length, r = c > 0 ? 0.5 / length : 0.0;
    double best[8] = {};
    std::size_t t = k + 1;
    for (; t + 8 <= j; t += 8)
        for (std::size_t l = 0; l < 8; ++l) {
            const double d = off_chord(xs[t + l], ys[t + l], r, h);
            best[l] = d > best[l] ? d : best[l];
        }
    for (; t < j; ++t) {
        const double d = off_chord(xs[t], ys[t], r, h);
        best[0] = d > best[0] ? d : best[0];
    }
    return *std::max_element(best, best + 8);
}

// Runs `work(thread)` on every thread; rows are handed out one by one through the counter that work takes.
template <class Work>
void on_threads(unsigned threads, Work work) {
    std::vector<std::thread> others;
    for (unsigned n = 1; n < threads; ++n) others.emplace_back(work, n);
    work(0u);
    for (auto& other : others) other.join();
}

class Barrier {
public:
    explicit Barrier(unsigned threads) : threads_(threads) {}
    void wait() {
        if (threads_ == 1) return;
        std::unique_lock<std::mutex> lock(mutex_);
        const std::size_t round = round_;
        if (++waiting_ == threads_) {
            waiting_ = 0;
            ++round_;
            all_here_.notify_all();
        } else {
            all_here_.wait(lock, [&] { return round != round_; });
        }
    }

private:
    unsigned threads_, waiting_ = 0;
    std::size_t round_ = 0;
    std::mutex mutex_;
    std::condition_variable all_here_;
};

// What a path costs so far at each frame; the costs of edges as lower bounds that become exact on demand.
class Search {
public:
    explicit Search(const SalientProblem& problem)
        : p_(problem), n_(problem.frames), reach_(std::min(problem.greatest_gap, n_ - 1)), distances_(p_, reach_),
          blocks_((n_ + block - 1) / block), row_blocks_(reach_ / block + 2),
          edges_(new double[n_ * reach_]), edge_minima_(n_ * row_blocks_),
          first_(n_), costs_{std::vector<double>(n_, infinite), std::vector<double>(n_, infinite)},
          minima_{std::vector<double>(blocks_, infinite), std::vector<double>(blocks_, infinite)},
          parents_(new std::int32_t[(p_.max_keys + 1) * n_]) {
        std::size_t pin = 0;
        for (std::size_t j = 1; j < n_; ++j) {  // no edge may leap over a pinned frame
            first_[j] = std::max(pin, j > reach_ ? j - reach_ : 0);
            if (p_.pinned[j]) pin = j;
        }
    }

    SalientPaths run() {
        const unsigned threads = std::max(1u, p_.threads);
        SalientPaths out;
        out.costs.assign(p_.max_keys + 1, infinite);
        transpose();
        std::atomic<std::size_t> rows{0}, bounds{1};
        std::vector<std::atomic<std::size_t>> next(p_.max_keys + 1);
        for (auto& counter : next) counter = 1;
        Barrier barrier(threads);
        costs_[1][0] = minima_[1][0] = 0.0;
        on_threads(threads, [&](unsigned thread) {
            measure(rows);
            barrier.wait();
            bound(bounds);
            barrier.wait();
            for (std::size_t m = 2; m <= p_.max_keys; ++m) {
                if (thread == 0) std::fill(minima_[m % 2].begin(), minima_[m % 2].end(), infinite);
                barrier.wait();
                extend(m, next[m]);
                barrier.wait();
                if (thread == 0) {
                    auto &row = costs_[m % 2], &least = minima_[m % 2];
                    row[0] = infinite;
                    for (std::size_t b = 0; b < blocks_; ++b)
                        least[b] = *std::min_element(row.begin() + b * block,
                                                     row.begin() + std::min(n_, (b + 1) * block));
                    out.costs[m] = row[n_ - 1];
                }
                barrier.wait();
            }
        });
        for (std::size_t m = 2; m <= p_.max_keys; ++m) trace(m, out);
        return out;
    }

private:
    void transpose() {
        padded_ = n_ + lanes;
        columns_.assign(p_.dims * padded_, 0.0);
        for (std::size_t t = 0; t < n_; ++t)
            for (std::size_t d = 0; d < p_.dims; ++d) columns_[d * padded_ + t] = p_.points[t * p_.dims + d];
    }

    // Tile by tile on and below the diagonal; each tile is written twice, the second time turned.
    void measure(std::atomic<std::size_t>& rows) {
        double tile[lanes][lanes];
        for (std::size_t first; (first = rows.fetch_add(lanes)) < n_;) {
            const std::size_t last = std::min(n_, first + lanes);
            const std::size_t from = first > reach_ ? (first - reach_) / lanes * lanes : 0;
            for (std::size_t b = from; b < last; b += lanes) {
                for (std::size_t a = first; a < last; ++a)
                    distances_to(columns_.data(), padded_, p_.dims, a, b, tile[a - first]);
                for (std::size_t a = first; a < last; ++a) {
                    const std::size_t low = std::max(b, a > reach_ ? a - reach_ : 0);
                    for (std::size_t c = low; c < std::min(b + lanes, a + 1); ++c)
                        distances_.row(a)[c] = tile[a - first][c - b];
                }
                for (std::size_t c = b; c < std::min(b + lanes, last); ++c)
                    for (std::size_t a = std::max(first, c); a < std::min(last, c + reach_ + 1); ++a)
                        distances_.row(c)[a] = tile[a - first][c - b];
            }
        }
    }

    // Bounds from every 16th frame, made from below; or, for integrated costs, the exact sums.
    void bound(std::atomic<std::size_t>& columns) {
        std::vector<double> r(n_), h(n_);
        for (std::size_t count; (count = columns.fetch_add(1)) < n_;) {
            const std::size_t j = n_ - count;  // long ones first
            const std::size_t from = first_[j];
            double* out = edge_row(j);
            std::fill(out + from, out + j, 0.0);
            chord_factors(distances_.row(j), from, j, r.data(), h.data());
            if (p_.integrated)
                for (std::size_t t = from + 1; t < j; ++t)
                    add_one(distances_.row(t), distances_.row(t)[j], r.data(), h.data(), from, t, out);
            else
                raise_bounds(j, from, r.data(), h.data(), out);
            finish_row(j, from, out);
        }
    }

    void raise_bounds(std::size_t j, std::size_t from, const double* r, const double* h, double* out) {
        std::size_t t = (from / sampled + 1) * sampled;
        for (; t + 3 * sampled < j; t += 4 * sampled) {
            const double* x[4];
            double y[4];
            for (std::size_t l = 0; l < 4; ++l) {
                x[l] = distances_.row(t + l * sampled);
                y[l] = x[l][j];
            }
            raise_by_four(x, y, r, h, from, t, out);
            for (std::size_t l = 1; l < 4; ++l) raise_by_one(x[l], y[l], r, h, t, t + l * sampled, out);
        }
        for (; t < j; t += sampled)
            raise_by_one(distances_.row(t), distances_.row(t)[j], r, h, from, t, out);
    }

    // Path costs that are sums need the distance itself; a sign marks an edge whose cost is exact.
    void finish_row(std::size_t j, std::size_t from, double* out) {
        for (std::size_t k = from; k < j; ++k) {
            if (p_.sum && !p_.integrated) out[k] = std::sqrt(out[k]);
            const bool exact = p_.integrated || j - k <= 1;
            const std::size_t b = edge_block(j, k);
            if (k == from || k % block == 0) edge_minima_[b] = infinite;
            edge_minima_[b] = std::min(edge_minima_[b], out[k]);
            if (exact) out[k] = -out[k];
        }
    }

    double exact_edge(std::size_t k, std::size_t j) {
        double& stored = edge_row(j)[k];
        if (!std::signbit(stored)) {
            const double* ys = distances_.row(j);
            double cost = largest_off_chord(distances_.row(k), ys, k, j, ys[k]);
            if (p_.sum) cost = std::sqrt(cost);
            stored = -cost;
        }
        return -stored;
    }

    void extend(std::size_t m, std::atomic<std::size_t>& next) {
        const std::vector<double>& before = costs_[(m - 1) % 2];
        const std::vector<double>& before_minima = minima_[(m - 1) % 2];
        std::vector<double>& now = costs_[m % 2];
        constexpr std::size_t share = 16;
        for (std::size_t start; (start = next.fetch_add(share)) < n_;) {
            std::int32_t parent = -1;  // of the frame before: a good guess for this one
            for (std::size_t j = start; j < std::min(n_, start + share); ++j) {
                now[j] = infinite;
                if (p_.allowed[j] && j >= p_.least_gap) now[j] = best_parent(m, j, before, before_minima, parent);
                parents_[m * n_ + j] = now[j] < infinite ? parent : -1;
            }
        }
    }

    double best_parent(std::size_t m, std::size_t j, const std::vector<double>& before,
                       const std::vector<double>& before_minima, std::int32_t& parent) {
        const std::size_t from = first_[j], to = j - p_.least_gap + 1;  // k in [from, to)
        double best = infinite;
        std::size_t best_k = n_;
        const auto consider = [&](std::size_t k) {
            const double path = before[k];
            const auto worse = [&](double cost) { return cost > best || (cost == best && k >= best_k); };
            const double edge = std::fabs(edge_row(j)[k]);
            if (path == infinite || worse(joined(path, edge))) return;
            const double cost = joined(path, exact_edge(k, j));
            if (!worse(cost)) best = cost, best_k = k;
        };
        for (const std::int32_t seed : {parent, m > 2 ? parents_[(m - 1) * n_ + j] : -1})
            if (seed >= static_cast<std::int32_t>(from) && seed < static_cast<std::int32_t>(to))
                consider(static_cast<std::size_t>(seed));
        if (best == infinite && to > from) consider(most_promising(from, to, edge_row(j), before));
        for (std::size_t k = from; k < to;) {
            const std::size_t end = std::min(to, (k / block + 1) * block);
            const double least = joined(before_minima[k / block], edge_minima_[edge_block(j, k)]);
            if (!(least > best || (least == best && k >= best_k) || least == infinite))
                for (; k < end; ++k) consider(k);
            k = end;
        }
        if (best_k < n_) parent = static_cast<std::int32_t>(best_k);
        return best;
    }

    std::size_t most_promising(std::size_t from, std::size_t to, const double* edges,
                               const std::vector<double>& before) const {
        std::size_t at = from;
        double least = infinite;
        for (std::size_t k = from; k < to; ++k) {
            const double cost = joined(before[k], std::fabs(edges[k]));
            if (cost < least) least = cost, at = k;
        }
        return at;
    }

    double joined(double path, double edge) const { return p_.sum ? path + edge : std::max(path, edge); }

    void trace(std::size_t m, SalientPaths& out) const {
        const std::size_t start = out.keys.size();
        out.keys.resize(start + m, -1);
        if (out.costs[m] == infinite) return;
        std::size_t j = n_ - 1;
        for (std::size_t i = m; i-- > 0;) {
            out.keys[start + i] = static_cast<std::int32_t>(j);
            if (i) j = static_cast<std::size_t>(parents_[(i + 1) * n_ + j]);
        }
    }

    // edge_row(j)[k] for j - reach <= k < j
    double* edge_row(std::size_t j) {
        return edges_.get() + static_cast<std::ptrdiff_t>(j * reach_ + reach_) - static_cast<std::ptrdiff_t>(j);
    }
    std::size_t edge_block(std::size_t j, std::size_t k) const {
        return j * row_blocks_ + k / block - first_[j] / block;
    }

    const SalientProblem& p_;
    const std::size_t n_, reach_;
    Distances distances_;
    const std::size_t blocks_, row_blocks_;
    std::unique_ptr<double[]> edges_;
    std::vector<double> edge_minima_;
    std::vector<std::size_t> first_;
    std::vector<double> costs_[2], minima_[2];
    std::unique_ptr<std::int32_t[]> parents_;
    std::vector<double> columns_;
    std::size_t padded_ = 0;
};

}  // namespace

SalientPaths salient_paths(const SalientProblem& problem) { return Search(problem).run(); }

}  // namespace keypose
