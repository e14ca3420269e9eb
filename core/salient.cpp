#include "salient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "chords.hpp"
#include "team.hpp"
#include "vector.hpp"

namespace keypose {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t share = 16;  // frames that a thread takes at a time

// Which of up to 64 paths may, with one more edge each, cost no more than `best`: bit i for path i.
KEYPOSE_VECTOR std::uint64_t promising(bool sum, const double* paths, const double* edges, std::size_t count,
                                       double best) {
    const Four most = {best, best, best, best};
    FourBits found0 = {}, found1 = {};
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const Four path0 = four(paths + i), path1 = four(paths + i + 4);
        const Four edge0 = magnitude(four(edges + i)), edge1 = magnitude(four(edges + i + 4));
        const Four cost0 = sum ? path0 + edge0 : (path0 > edge0 ? path0 : edge0);
        const Four cost1 = sum ? path1 + edge1 : (path1 > edge1 ? path1 : edge1);
        const long long bit = static_cast<long long>(std::uint64_t{1} << i);
        const FourBits bits = {bit, bit, bit, bit};
        found0 |= (cost0 <= most) & bits;
        found1 |= (cost1 <= most) & bits;
    }
    std::uint64_t found = 0;
    for (std::size_t l = 0; l < 4; ++l)
        found |= static_cast<std::uint64_t>(found0[l]) << l | static_cast<std::uint64_t>(found1[l]) << (l + 4);
    for (; i < count; ++i) {
        const double edge = std::fabs(edges[i]), cost = sum ? paths[i] + edge : std::max(paths[i], edge);
        found |= static_cast<std::uint64_t>(cost <= best) << i;
    }
    return found;
}

Measure measure_of(const SalientProblem& p) {
    if (p.integrated) return Measure::sum_of_squares;
    return p.sum ? Measure::largest : Measure::largest_squared;
}

// Where the best path with m keys that ends in each frame comes from, row m by row m. Where the parents of all rows
// would take too much memory, only those of one stage of rows are held: the costs at the start of each stage are kept,
// and the rows of a stage are made again when the paths are traced back.
class Search {
public:
    explicit Search(const SalientProblem& problem)
        : p_(problem), n_(problem.frames), reach_(std::min(problem.greatest_gap, n_ - 1)),
          blocks_((n_ + block - 1) / block), stage_rows_(rows_of_a_stage()), first_(first_parents()),
          chords_({p_.points, n_, p_.dims}, reach_, first_, measure_of(p_), p_.most_distances),
          costs_{std::vector<double>(n_, infinite), std::vector<double>(n_, infinite)},
          minima_{std::vector<double>(blocks_, infinite), std::vector<double>(blocks_, infinite)},
          parents_(new std::int32_t[stage_rows_ * n_]), at_(p_.max_keys + 1, static_cast<std::int32_t>(n_ - 1)),
          team_(std::max(1u, p_.threads), p_.keep_going) {
        out_.costs.assign(p_.max_keys + 1, infinite);
        out_.keys.assign((p_.max_keys + 1) * p_.max_keys / 2 - 1, -1);
        kept_.reserve(p_.max_keys / stage_rows_ + 1);
    }

    SalientPaths run() {
        out_.finished = team_.run([this](unsigned thread) { work(thread); });
        return std::move(out_);
    }

private:
    void work(unsigned thread) {
        chords_.prepare(team_, thread);
        if (thread == 0) begin_with_the_first_frame();
        const std::size_t stages = (p_.max_keys - 1 + stage_rows_ - 1) / stage_rows_;
        for (std::size_t stage = 0; stage < stages; ++stage) {
            if (thread == 0) kept_.push_back(costs_[(first_row(stage) - 1) % 2]);
            if (!extend_stage(stage, thread)) return;
        }
        for (std::size_t stage = stages; stage-- > 0;) {
            if (thread == 0) trace(stage);
            if (stage == 0) break;
            if (thread == 0) restart_from(first_row(stage - 1) - 1, kept_[stage - 1]);
            if (!extend_stage(stage - 1, thread)) return;
        }
    }

    std::size_t first_row(std::size_t stage) const { return 2 + stage * stage_rows_; }
    std::size_t last_row(std::size_t stage) const { return std::min(p_.max_keys + 1, first_row(stage + 1)); }

    std::size_t rows_of_a_stage() const {
        const std::size_t rows = p_.max_keys - 1;
        if (rows * n_ <= p_.most_parents) return rows;
        return std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(2.0 * static_cast<double>(rows))));
    }

    // No edge may leap over a pinned frame.
    std::vector<std::size_t> first_parents() const {
        std::vector<std::size_t> first(n_, 0);
        std::size_t pin = 0;
        for (std::size_t j = 1; j < n_; ++j) {
            first[j] = std::max(pin, j > reach_ ? j - reach_ : 0);
            if (p_.pinned[j]) pin = j;
        }
        return first;
    }

    void begin_with_the_first_frame() {
        std::vector<double> row(n_, infinite);
        row[0] = 0.0;
        restart_from(1, row);
    }

    void restart_from(std::size_t m, const std::vector<double>& row) {
        costs_[m % 2] = row;
        note_minima(m);
    }

    void note_minima(std::size_t m) {
        const auto row = costs_[m % 2].begin();
        for (std::size_t b = 0; b < blocks_; ++b)
            minima_[m % 2][b] = *std::min_element(row + b * block, row + std::min(n_, (b + 1) * block));
    }

    bool extend_stage(std::size_t stage, unsigned thread) {
        for (std::size_t m = first_row(stage); m < last_row(stage); ++m) {
            if (thread == 0) {
                std::fill(costs_[m % 2].begin(), costs_[m % 2].end(), infinite);
                next_ = least_frame(m);
            }
            if (!team_.meet()) return false;
            extend(m, m == first_row(stage), thread);
            if (!team_.meet()) return false;
            if (thread == 0) {
                note_minima(m);
                out_.costs[m] = costs_[m % 2][n_ - 1];
            }
        }
        return true;
    }

    // The frames at which m keys can end from which the last frame is still in reach.
    std::size_t least_frame(std::size_t m) const {
        const std::size_t left = (p_.max_keys - m) * reach_;
        return std::max((m - 1) * p_.least_gap, n_ - 1 > left ? n_ - 1 - left : 0);
    }
    std::size_t greatest_frame(std::size_t m) const { return std::min(n_ - 1, (m - 1) * reach_); }

    std::int32_t& parent(std::size_t m, std::size_t j) { return parents_[(m - 2) % stage_rows_ * n_ + j]; }

    void extend(std::size_t m, bool first_of_stage, unsigned thread) {
        std::vector<double>& now = costs_[m % 2];
        const std::size_t end = greatest_frame(m) + 1;
        for (std::size_t start; (start = next_.fetch_add(share)) < end && team_.goes_on(thread);) {
            std::int32_t guess = -1;  // the parent of the frame before is a good one
            for (std::size_t j = start; j < std::min(end, start + share); ++j) {
                const std::int32_t other = first_of_stage ? -1 : parent(m - 1, j);
                if (p_.allowed[j]) now[j] = best_parent(m, j, other, guess);
                parent(m, j) = now[j] < infinite ? guess : -1;
            }
        }
    }

    double best_parent(std::size_t m, std::size_t j, std::int32_t other, std::int32_t& guess) {
        const double* before = costs_[(m - 1) % 2].data();
        const double* before_minima = minima_[(m - 1) % 2].data();
        const double* edges = chords_.row(j);
        const std::size_t from = first_[j], to = j + 1 - p_.least_gap;  // k in [from, to)
        double best = infinite;
        std::size_t best_k = n_;  // of equal costs the smallest k, whatever is tried first
        const auto worse = [&](double cost, std::size_t k) { return cost > best || (cost == best && k >= best_k); };
        const auto consider = [&](std::size_t k) {
            if (before[k] == infinite || worse(joined(before[k], std::fabs(edges[k])), k)) return;
            const double cost = joined(before[k], chords_.exact(k, j));
            if (!worse(cost, k)) best = cost, best_k = k;
        };
        for (const std::int32_t seed : {guess, other})
            if (seed >= static_cast<std::int32_t>(from) && seed < static_cast<std::int32_t>(to))
                consider(static_cast<std::size_t>(seed));
        if (best == infinite) {
            const std::size_t k = most_promising(from, to, edges, before);
            if (k < to) consider(k);
        }
        for (std::size_t k = from, end; k < to; k = end) {
            end = std::min(to, (k / block + 1) * block);
            const double least = joined(before_minima[k / block], chords_.least_bound(k, j));
            if (worse(least, k) || least == infinite) continue;
            for (auto left = promising(p_.sum, before + k, edges + k, end - k, best); left; left &= left - 1)
                consider(k + lowest_bit(left));
        }
        if (best_k < n_) guess = static_cast<std::int32_t>(best_k);
        return best;
    }

    // The frame whose path would be cheapest if its bound were its cost; `to` if no path leads here.
    std::size_t most_promising(std::size_t from, std::size_t to, const double* edges, const double* before) const {
        std::size_t at = to;
        double least = infinite;
        for (std::size_t k = from; k < to; ++k) {
            const double cost = joined(before[k], std::fabs(edges[k]));
            if (cost < least) least = cost, at = k;
        }
        return at;
    }

    double joined(double path, double edge) const { return p_.sum ? path + edge : std::max(path, edge); }

    // Follows every path through the rows of a stage, backwards.
    void trace(std::size_t stage) {
        for (std::size_t m = last_row(stage); m-- > first_row(stage);)
            for (std::size_t path = m; path <= p_.max_keys; ++path) {
                if (out_.costs[path] == infinite) continue;
                std::int32_t* keys = out_.keys.data() + path * (path - 1) / 2 - 1;
                keys[m - 1] = at_[path];
                at_[path] = parent(m, static_cast<std::size_t>(at_[path]));
                if (m == 2) keys[0] = at_[path];
            }
    }

    const SalientProblem& p_;
    const std::size_t n_, reach_, blocks_, stage_rows_;
    const std::vector<std::size_t> first_;
    Chords chords_;
    std::vector<double> costs_[2], minima_[2];  // of the last two rows, by frame and by block of frames
    std::vector<std::vector<double>> kept_;     // the costs before each stage
    std::unique_ptr<std::int32_t[]> parents_;   // of the rows of one stage
    std::vector<std::int32_t> at_;              // where each path is while it is traced
    std::atomic<std::size_t> next_{0};
    Team team_;
    SalientPaths out_;
};

}  // namespace

SalientPaths salient_paths(const SalientProblem& problem) { return Search(problem).run(); }

}  // namespace keypose
