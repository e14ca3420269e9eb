// Costs of the edges between frames: how far the frames between two keys are from the chord, the line through the keys.
#pragma once
#include <atomic>
#include <cmath>
#include <cstddef>
#include <vector>

#include "uninitialized_array.hpp"
#include "thread_pool.hpp"

namespace keypose {

constexpr std::size_t block = 64;  // frames whose minimum cost is stored, so that a search can skip them together

struct Points {
    const double* values;  // (frames, dims)
    std::size_t frames, dims;
};

enum class Measure { max_square, max_distance, sum_of_squares };

// The squared distances between frames first to first + count - 1 that are at most `reach` apart.
class Distances {
public:
    void cover(std::size_t first, std::size_t count, std::size_t reach);
    std::size_t first() const { return first_; }
    std::size_t last() const { return first_ + count_; }
    std::size_t reach() const { return reach_; }
    // The number of elements from row(a)[b] to row(a + 1)[b] in memory.
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

// Costs of the edges k -> j, k < j, at most `reach` frames apart: initially lower bounds; the exact cost is computed on
// demand. If the distances of all frames would take too much memory, all costs are computed exactly at once.
class Chords {
public:
    // `first[j]` is the first frame that may be the key before j. At most about `max_distances` distances are stored at
    // a time, if `reach` allows that.
    Chords(Points points, std::size_t reach, const std::vector<std::size_t>& first, Measure measure,
           std::size_t max_distances);

    // Computes the bounds; to be called by every thread of the pool.
    void prepare(ThreadPool& pool, unsigned thread);

    // |row(j)[k]| is the cost of the edge k -> j if the sign is negative, else a lower bound of it.
    const double* row(std::size_t j) const { return edges_.get() + offset(j); }
    // The exact cost; it is stored for later calls.
    double exact(std::size_t k, std::size_t j, double /* limit */) {
        const double stored = row(j)[k];
        return std::signbit(stored) ? -stored : compute_exact(k, j);
    }
    // The minimum bound of the edges to j from each block of frames, starting with the block of first[j].
    const double* min_bounds(std::size_t j) const { return minima_.data() + j * row_blocks_; }

private:
    bool is_sum() const { return measure_ == Measure::sum_of_squares; }
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
    bool has_large_rounding_error(std::size_t k, std::size_t j) const;
    double cost_from_differences(std::size_t k, std::size_t j) const;
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
    std::vector<double> samples_;  // the distances that bounds are computed from; empty if not all are stored
    UninitializedArray<double> edges_;  // negative: exact cost
    std::vector<double> minima_;
    std::atomic<double> diameter_{0};  // the largest squared distance between frames in distances_
    std::atomic<std::size_t> next_row_{0}, next_sample_{0}, next_column_{0};
};

}  // namespace keypose
