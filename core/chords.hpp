// Cost of leaving out the frames between two keys: their distance to the chord, the line through the keys.
#pragma once
#include <atomic>
#include <cmath>
#include <cstddef>
#include <vector>

#include "uninitialized_array.hpp"
#include "thread_pool.hpp"

namespace keypose {

constexpr std::size_t block = 64;  // frames that a search can skip together

struct Points {
    const double* values;  // (frames, dims)
    std::size_t frames, dims;
};

enum class Measure { largest_squared, largest, sum_of_squares };

// The squared distances between frames first to first + count - 1 that are at most `reach` apart.
class Distances {
public:
    void cover(std::size_t first, std::size_t count, std::size_t reach);
    std::size_t first() const { return first_; }
    std::size_t last() const { return first_ + count_; }
    std::size_t reach() const { return reach_; }
    // The distance in memory from row(a)[b] to row(a + 1)[b].
    std::ptrdiff_t stride() const { return static_cast<std::ptrdiff_t>(stride_ - !full_); }
    // row(a)[b] is the squared distance between frames a and b.
    double* row(std::size_t a) { return values_.get() + offset(a); }
    const double* row(std::size_t a) const { return values_.get() + offset(a); }

private:
    std::ptrdiff_t offset(std::size_t a) const {
        const auto at = static_cast<std::ptrdiff_t>((a - first_) * stride_);
        return at - static_cast<std::ptrdiff_t>(full_ ? first_ : a) + static_cast<std::ptrdiff_t>(full_ ? 0 : reach_);
    }
    std::size_t first_ = 0, count_ = 0, reach_ = 0, stride_ = 0, capacity_ = 0;
    bool full_ = true;
    UninitializedArray<double> values_;
};

// Costs of the edges k -> j, k < j, at most `reach` frames apart: initially lower bounds, exact on demand. If the
// distances of all frames would take too much memory, they are computed exactly at once.
class Chords {
public:
    // `first[j]` is the first frame that may be the key before j. At most about `max_distances` distances are held at a
    // time, if `reach` allows.
    Chords(Points points, std::size_t reach, const std::vector<std::size_t>& first, Measure measure,
           std::size_t max_distances);

    void prepare(ThreadPool& pool, unsigned thread);  // called by every thread

    // |row(j)[k]| is a lower bound of the cost, or the cost itself (negative sign) once exact() was called.
    const double* row(std::size_t j) const { return edges_.get() + offset(j); }
    double exact(std::size_t k, std::size_t j, double /* limit */) {
        const double stored = row(j)[k];
        return std::signbit(stored) ? -stored : compute_exact(k, j);
    }
    // The minimum bound of the edges to j from each block of frames, starting with the block of first[j].
    const double* min_bounds(std::size_t j) const { return minima_.data() + j * row_blocks_; }

private:
    bool adds_up() const { return measure_ == Measure::sum_of_squares; }
    std::ptrdiff_t offset(std::size_t j) const {
        const std::size_t own = j < reach_ ? j : reach_;  // number of edges that end in j
        const std::size_t before = own * (own - (own > 0)) / 2 + (j - own) * reach_;
        return static_cast<std::ptrdiff_t>(before) - static_cast<std::ptrdiff_t>(j - own);
    }
    void measure_rows(ThreadPool& pool, unsigned thread);
    void gather_samples(ThreadPool& pool, unsigned thread);
    void bound_columns(ThreadPool& pool, unsigned thread, std::size_t from, std::size_t to);
    void bound_tile(std::size_t j, std::size_t i, double* out) const;
    void bound_one_by_one(std::size_t j, std::size_t from, std::size_t to, double* out) const;
    double compute_exact(std::size_t k, std::size_t j);
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
    std::vector<double> packed_;  // the points in groups of `lanes` frames, dimension by dimension
    Distances distances_;
    std::vector<double> samples_;  // of the distances, if those of all frames are held
    UninitializedArray<double> edges_;  // negative: exact cost
    std::vector<double> minima_;
    std::atomic<double> diameter_{0};  // the largest squared distance held
    std::atomic<std::size_t> next_row_{0}, next_sample_{0}, next_column_{0};
};

}  // namespace keypose
