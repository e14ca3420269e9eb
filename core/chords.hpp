// What it costs to leave out the frames between two keys: how far they are off the chord, the line through the keys.
#pragma once
#include <atomic>
#include <cmath>
#include <cstddef>
#include <vector>

#include "pages.hpp"
#include "team.hpp"

namespace keypose {

constexpr std::size_t block = 64;  // frames that a search passes over together

struct Points {
    const double* values;  // (frames, dims)
    std::size_t frames, dims;
};

enum class Measure { largest_squared, largest, sum_of_squares };

// The squared distances of frames first to first + count - 1, as far as they are at most `reach` apart.
class Distances {
public:
    void cover(std::size_t first, std::size_t count, std::size_t reach);
    std::size_t first() const { return first_; }
    std::size_t last() const { return first_ + count_; }
    std::size_t reach() const { return reach_; }
    // From row(a)[b] to row(a + 1)[b].
    std::ptrdiff_t stride() const { return static_cast<std::ptrdiff_t>(stride_ - !full_); }
    // row(a)[b] is the squared distance of frames a and b.
    double* row(std::size_t a) { return values_.get() + offset(a); }
    const double* row(std::size_t a) const { return values_.get() + offset(a); }

private:
    std::ptrdiff_t offset(std::size_t a) const {
        const auto at = static_cast<std::ptrdiff_t>((a - first_) * stride_);
        return at - static_cast<std::ptrdiff_t>(full_ ? first_ : a) + static_cast<std::ptrdiff_t>(full_ ? 0 : reach_);
    }
    std::size_t first_ = 0, count_ = 0, reach_ = 0, stride_ = 0, held_ = 0;
    bool full_ = true;
    Pages<double> values_;
};

// Costs of the edges k -> j, k < j, at most `reach` frames apart: at first lower bounds, exact on demand; or, where
// the distances of all frames would take too much memory, exact at once.
class Chords {
public:
    // `first[j]` is the first frame that may be the key before j.
    // No more than about `most_distances` distances of frames are held at a time, if `reach` allows.
    Chords(Points points, std::size_t reach, const std::vector<std::size_t>& first, Measure measure,
           std::size_t most_distances);

    void prepare(Team& team, unsigned thread);  // every thread calls it

    // row(j)[k] is, but for its sign, a lower bound of the cost; the cost itself once exact() was called.
    const double* row(std::size_t j) const { return edges_.get() + offset(j); }
    double exact(std::size_t k, std::size_t j, double /* limit */) {
        const double stored = row(j)[k];
        return std::signbit(stored) ? -stored : made_exact(k, j);
    }
    // The least bound of the edges to j from the frames of each block, from that of first[j] on.
    const double* least_bounds(std::size_t j) const { return minima_.data() + j * row_blocks_; }

private:
    bool adds_up() const { return measure_ == Measure::sum_of_squares; }
    std::ptrdiff_t offset(std::size_t j) const {
        const std::size_t own = j < reach_ ? j : reach_;  // edges that end in j
        const std::size_t before = own * (own - (own > 0)) / 2 + (j - own) * reach_;
        return static_cast<std::ptrdiff_t>(before) - static_cast<std::ptrdiff_t>(j - own);
    }
    void measure_rows(Team& team, unsigned thread);
    void gather_samples(Team& team, unsigned thread);
    void bound_columns(Team& team, unsigned thread, std::size_t from, std::size_t to);
    void bound_tile(std::size_t j, std::size_t i, double* out) const;
    void bound_one_by_one(std::size_t j, std::size_t from, std::size_t to, double* out) const;
    double made_exact(std::size_t k, std::size_t j);
    double rounding() const;
    bool is_doubtful(std::size_t k, std::size_t j) const;
    double from_differences(std::size_t k, std::size_t j) const;
    void finish(std::size_t j);

    const Points points_;
    const std::size_t reach_;
    const std::vector<std::size_t>& first_;
    const Measure measure_;
    const std::size_t window_;
    const bool exact_at_once_;
    const std::size_t row_blocks_;
    std::vector<double> packed_;  // the points of some frames at a time, dimension by dimension
    Distances distances_;
    std::vector<double> samples_;  // of the distances, where those of all frames are held
    Pages<double> edges_;  // the sign marks a cost that is exact
    std::vector<double> minima_;
    std::atomic<double> diameter_{0};  // the largest squared distance held
    std::atomic<std::size_t> next_row_{0}, next_sample_{0}, next_column_{0};
};

}  // namespace keypose
