#include "salient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "chords.hpp"
#include "inbetween.hpp"
#include "edge_table.hpp"
#include "thread_pool.hpp"
#include "simd.hpp"

namespace keypose {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// Rows that a thread processes together, so that the costs of a frame are loaded once for all of them.
constexpr std::size_t strip = 32;

// Returns which of up to 64 paths may cost at most `best` when extended by one edge each: bit i for path i.
KEYPOSE_VECTOR std::uint64_t find_candidates(bool sum, const double* paths, const double* edges, std::size_t count,
                                       double best) {
    const Four best4 = {best, best, best, best};
    FourBits found0 = {}, found1 = {};
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const Four path0 = four(paths + i), path1 = four(paths + i + 4);
        const Four edge0 = magnitude(four(edges + i)), edge1 = magnitude(four(edges + i + 4));
        const Four cost0 = sum ? path0 + edge0 : (path0 > edge0 ? path0 : edge0);
        const Four cost1 = sum ? path1 + edge1 : (path1 > edge1 ? path1 : edge1);
        const long long bit = static_cast<long long>(std::uint64_t{1} << i);
        const FourBits bits = {bit, bit, bit, bit};
        found0 |= (cost0 <= best4) & bits;
        found1 |= (cost1 <= best4) & bits;
    }
    std::uint64_t bits_found = 0;
    for (std::size_t l = 0; l < 4; ++l)
        bits_found |= static_cast<std::uint64_t>(found0[l]) << l | static_cast<std::uint64_t>(found1[l]) << (l + 4);
    for (; i < count; ++i) {
        const double edge = std::fabs(edges[i]), cost = sum ? paths[i] + edge : std::max(paths[i], edge);
        bits_found |= static_cast<std::uint64_t>(cost <= best) << i;
    }
    return bits_found;
}

std::size_t max_reach(const SalientProblem& p) { return std::min(p.max_gap, p.frames - 1); }

// Returns for each frame the first frame that may be the key before it: no edge may skip a pinned frame.
std::vector<std::size_t> first_parents(const SalientProblem& p) {
    std::vector<std::size_t> first(p.frames, 0);
    std::size_t pin = 0;
    for (std::size_t j = 1; j < p.frames; ++j) {
        first[j] = std::max(pin, j > max_reach(p) ? j - max_reach(p) : 0);
        if (p.pinned[j]) pin = j;
    }
    return first;
}

Measure edge_measure(const SalientProblem& p) {
    if (p.integrated) return Measure::sum_of_squares;
    return p.sum ? Measure::max_distance : Measure::max_square;
}

// Dynamic programming: row m has for each frame the cost of the best path with m keys that ends there, and its parent,
// the key before the last. A thread computes a strip of rows, frame by frame; the thread of the next strip follows
// behind it. If the parents of all rows need too much memory, only those of one stage of rows are stored: the costs
// before each stage are stored as well, and the rows of a stage are computed again when the paths are traced back.
template <class Edges>
class Search {
public:
    Search(const SalientProblem& problem, const std::vector<std::size_t>& first, Edges& edges)
        : p_(problem), n_(problem.frames), reach_(max_reach(problem)), blocks_((n_ + block - 1) / block),
          stage_rows_(stage_row_count()), ring_rows_(ring_row_count()), first_(first),
          edges_(edges), costs_(new double[ring_rows_ * n_]), minima_(new double[ring_rows_ * blocks_]),
          start_minima_(blocks_),
          parents_(new std::int32_t[stage_rows_ * n_]), at_(p_.max_keys + 1, static_cast<std::int32_t>(n_ - 1)),
          progress_(stage_rows_ / strip + 1), pool_(std::max(1u, p_.threads), p_.keep_going) {
        out_.costs.assign(p_.max_keys + 1, infinite);
        out_.keys.assign((p_.max_keys + 1) * p_.max_keys / 2 - 1, -1);
        starts_.reserve(p_.max_keys / stage_rows_ + 2);
        starts_.emplace_back(n_, infinite);
        starts_[0][0] = 0.0;  // every path starts with the first frame
    }

    SalientPaths run() {
        out_.finished = pool_.run([this](unsigned thread) { work(thread); });
        return std::move(out_);
    }

private:
    void work(unsigned thread) {
        edges_.prepare(pool_, thread);
        const std::size_t stages = (p_.max_keys - 1 + stage_rows_ - 1) / stage_rows_;
        for (std::size_t stage = 0; stage < stages; ++stage) {
            if (!compute_stage(stage, thread)) return;
            if (thread == 0 && stage + 1 < stages) {
                const double* last = row(stage, last_row(stage) - 1).costs;
                starts_.emplace_back(last, last + n_);
            }
        }
        for (std::size_t stage = stages; stage-- > 0;) {
            if (thread == 0) trace(stage);
            if (stage > 0 && !compute_stage(stage - 1, thread)) return;
        }
    }

    std::size_t first_row(std::size_t stage) const { return 2 + stage * stage_rows_; }
    std::size_t last_row(std::size_t stage) const { return std::min(p_.max_keys + 1, first_row(stage + 1)); }

    std::size_t stage_row_count() const {
        const std::size_t rows = p_.max_keys - 1;
        if (rows * n_ <= p_.max_parents) return rows;
        // With this number of rows in a stage the parents take as much memory as the stored costs.
        const auto balanced = static_cast<std::size_t>(std::sqrt(2.0 * static_cast<double>(rows)));
        return std::max<std::size_t>({1, balanced, p_.max_parents / n_});
    }

    // One strip for each thread and one more, but not more than a stage has.
    std::size_t ring_row_count() const {
        const std::size_t strips = (stage_rows_ + strip - 1) / strip;
        return std::min<std::size_t>(std::max(1u, p_.threads) + 1, strips) * strip;
    }

    // Row m: the best paths with m keys, by their last frame.
    struct Row {
        double* costs;
        double* minima;         // the minimum cost of each block of frames so far
        std::int32_t* parents;  // the previous key; null for the row before a strip
        std::size_t first_frame, last_frame;  // the range of last frames
    };

    Row row(std::size_t stage, std::size_t m) {
        const std::size_t first_frame = first_end_frame(m), last_frame = last_end_frame(m);
        if (m < first_row(stage)) return {starts_[stage].data(), start_minima_.data(), nullptr, first_frame, last_frame};
        const std::size_t slot = (m - first_row(stage)) % ring_rows_;
        return {costs_.get() + slot * n_, minima_.get() + slot * blocks_, parents(m), first_frame, last_frame};
    }
    std::int32_t* parents(std::size_t m) { return parents_.get() + (m - 2) % stage_rows_ * n_; }

    // The range of frames in which a path with m keys can end such that the last frame can still be reached.
    std::size_t first_end_frame(std::size_t m) const {
        if (m < 2) return 0;
        const std::size_t remaining = (p_.max_keys - m) * reach_;  // frames that the other keys can span
        return std::max((m - 1) * p_.min_gap, n_ - 1 > remaining ? n_ - 1 - remaining : 0);
    }
    std::size_t last_end_frame(std::size_t m) const { return std::min(n_ - 1, (m - 1) * reach_); }

    bool compute_stage(std::size_t stage, unsigned thread) {
        if (thread == 0) {
            const auto row = starts_[stage].begin();
            for (std::size_t b = 0; b < blocks_; ++b)
                start_minima_[b] = *std::min_element(row + b * block, row + std::min(n_, (b + 1) * block));
            for (auto& frames : progress_) frames = 0;
            next_strip_ = 0;
        }
        if (!pool_.wait_for_all()) return false;
        const std::size_t rows = last_row(stage) - first_row(stage);
        for (std::size_t s; (s = next_strip_.fetch_add(1)) * strip < rows;)
            if (!compute_strip(stage, s, thread)) return false;
        return pool_.wait_for_all();
    }

    bool compute_strip(std::size_t stage, std::size_t s, unsigned thread) {
        const std::size_t first = first_row(stage) + s * strip, last = std::min(last_row(stage), first + strip);
        // This strip overwrites the rows of the strip `strips` before it, which the strip after that one must have
        // read.
        const std::size_t strips = ring_rows_ / strip;
        if (s >= strips && !wait_for_previous(s - strips + 2, all_done(), thread)) return false;
        Row rows[strip + 1];  // the previous row, then those of the strip
        const std::size_t count = last - first;
        for (std::size_t i = 0; i <= count; ++i) rows[i] = row(stage, first - 1 + i);
        rows[0].parents = nullptr;
        for (std::size_t i = 1; i <= count; ++i) {
            std::fill_n(rows[i].costs, n_, infinite);
            std::fill_n(rows[i].minima, blocks_, infinite);
        }
        for (std::size_t j = rows[1].first_frame; j <= rows[count].last_frame;) {
            const std::size_t block_end = (j / block + 1) * block;  // the minimum of a block is final at its end
            const std::size_t stop = std::min(rows[count].last_frame + 1, block_end);
            if (!wait_for_previous(s, stop, thread)) return false;
            for (; j < stop; ++j)
                for (std::size_t i = 1; i <= count; ++i) compute_path(rows[i - 1], rows[i], j);
            progress_[s].store(stop, std::memory_order_release);
        }
        for (std::size_t i = 1; i <= count; ++i) out_.costs[first - 1 + i] = rows[i].costs[n_ - 1];
        if (!wait_for_previous(s, all_done(), thread)) return false;  // strips finish in order
        progress_[s].store(all_done(), std::memory_order_release);
        return true;
    }

    std::size_t all_done() const { return n_ + 1; }

    // Waits until the previous strip has processed `frames` frames; false if interrupted.
    bool wait_for_previous(std::size_t s, std::size_t frames, unsigned thread) {
        while (s > 0 && progress_[s - 1].load(std::memory_order_acquire) < frames) {
            if (!pool_.should_continue(thread)) return false;
            std::this_thread::yield();
        }
        return pool_.should_continue(thread);
    }

    // Computes the best path of a row to frame j from the previous row.
    void compute_path(const Row& previous, const Row& now, std::size_t j) {
        std::int32_t& best = now.parents[j];
        best = -1;
        if (!p_.allowed[j] || j < now.first_frame || j > now.last_frame) return;
        // The parents of neighbouring cells are good candidates.
        const std::int32_t neighbour = j > now.first_frame ? now.parents[j - 1] : -1;
        const bool has_fewer = previous.parents && j >= previous.first_frame && j <= previous.last_frame;
        const double cost = best_parent(previous, j, neighbour, has_fewer ? previous.parents[j] : -1, best);
        now.costs[j] = cost;
        now.minima[j / block] = std::min(now.minima[j / block], cost);
    }

    // Finds the best key before frame j among the paths with one key less; returns the cost, infinite if there is none.
    double best_parent(const Row& shorter, std::size_t j, std::int32_t neighbour, std::int32_t fewer_keys,
                       std::int32_t& parent) {
        const double *previous = shorter.costs, *previous_minima = shorter.minima, *edges = edges_.row(j);
        const std::size_t from = first_[j], to = j + 1 - p_.min_gap;  // k in [from, to)
        if (to <= from) return infinite;
        double best = p_.limit;
        std::size_t best_k = n_;  // for equal costs the smallest k, whatever the order of evaluation
        // Costs that are not numbers are worse than any other.
        const auto worse = [&](double cost, std::size_t k) { return !(cost < best || (cost == best && k < best_k)); };
        const auto consider = [&](std::size_t k) {
            if (previous[k] == infinite || worse(combine(previous[k], std::fabs(edges[k])), k)) return;
            const double cost = combine(previous[k], edges_.exact(k, j, best));  // may be a lower bound if it is worse
            if (!worse(cost, k)) best = cost, best_k = k;
        };
        for (const std::int32_t seed : {neighbour, fewer_keys})
            if (seed >= static_cast<std::int32_t>(from) && seed < static_cast<std::int32_t>(to))
                consider(static_cast<std::size_t>(seed));
        if (best_k == n_) {
            const std::size_t k = best_by_bound(from, to, edges, previous);
            if (k < to) consider(k);
        }
        const double* min_edges = edges_.min_bounds(j);
        const std::size_t first_block = from / block, blocks = (to + block - 1) / block;
        for (std::size_t b = first_block; b < blocks; b += 64) {
            const double *paths = previous_minima + b, *block_edges = min_edges + (b - first_block);
            auto candidates = find_candidates(p_.sum, paths, block_edges, std::min<std::size_t>(64, blocks - b), best);
            for (; candidates; candidates &= candidates - 1) {
                const unsigned l = lowest_bit(candidates);
                const std::size_t k = std::max(from, (b + l) * block), end = std::min(to, (b + l + 1) * block);
                if (paths[l] == infinite || worse(combine(paths[l], block_edges[l]), k)) continue;
                for (auto frames = find_candidates(p_.sum, previous + k, edges + k, end - k, best); frames; frames &= frames - 1)
                    consider(k + lowest_bit(frames));
            }
        }
        if (best_k == n_) return infinite;
        parent = static_cast<std::int32_t>(best_k);
        return best;
    }

    // The frame with the lowest cost of path and edge, with bounds in place of costs; `to` if there is no path.
    std::size_t best_by_bound(std::size_t from, std::size_t to, const double* edges, const double* previous) const {
        std::size_t at = to;
        double min_cost = infinite;
        for (std::size_t k = from; k < to; ++k) {
            const double cost = combine(previous[k], std::fabs(edges[k]));
            if (cost < min_cost) min_cost = cost, at = k;
        }
        return at;
    }

    double combine(double path, double edge) const { return p_.sum ? path + edge : path > edge ? path : edge; }

    // Traces every path back through the rows of a stage.
    void trace(std::size_t stage) {
        for (std::size_t m = last_row(stage); m-- > first_row(stage);) {
            const std::int32_t* previous = parents(m);
            for (std::size_t path = m; path <= p_.max_keys; ++path) {
                if (out_.costs[path] == infinite) continue;
                std::int32_t* keys = out_.keys.data() + path * (path - 1) / 2 - 1;
                keys[m - 1] = at_[path];
                at_[path] = previous[at_[path]];
                if (m == 2) keys[0] = at_[path];
            }
        }
    }

    const SalientProblem& p_;
    const std::size_t n_, reach_, blocks_, stage_rows_, ring_rows_;
    const std::vector<std::size_t>& first_;
    Edges& edges_;
    std::unique_ptr<double[]> costs_, minima_;  // of the rows of the ring: those being computed and the strip before them
    std::vector<std::vector<double>> starts_;   // the costs before each stage
    std::vector<double> start_minima_;
    std::unique_ptr<std::int32_t[]> parents_;  // of the rows of one stage
    std::vector<std::int32_t> at_;             // the current frame of each traced path
    std::atomic<std::size_t> next_strip_{0};
    std::vector<std::atomic<std::size_t>> progress_;  // number of frames processed by each strip of the stage
    ThreadPool pool_;
    SalientPaths out_;
};

// The edges of `Inbetweens` with lower bounds as costs: paths over them are a good first estimate.
struct BoundsOnly {
    Inbetweens& edges;
    void prepare(ThreadPool& pool, unsigned thread) { edges.prepare(pool, thread); }
    const double* row(std::size_t j) const { return edges.row(j); }
    double exact(std::size_t k, std::size_t j, double) const { return std::fabs(edges.row(j)[k]); }
    const double* min_bounds(std::size_t j) const { return edges.min_bounds(j); }
};

// Returns the exact cost of the path with max_keys keys; infinite if there is none.
double exact_cost(const SalientProblem& p, const SalientPaths& paths, Inbetweens& edges) {
    if (paths.costs[p.max_keys] == infinite) return infinite;
    const std::int32_t* keys = paths.keys.data() + paths.keys.size() - p.max_keys;
    double cost = 0;
    for (std::size_t i = 1; i < p.max_keys; ++i) {
        const auto from = static_cast<std::size_t>(keys[i - 1]), to = static_cast<std::size_t>(keys[i]);
        const double edge = edges.exact(from, to, infinite);
        cost = p.sum ? cost + edge : std::max(cost, edge);
    }
    return cost;
}

// Writes the costs (frames, max_reach) of the edges that may be part of a path and cost at most p.limit.
template <class Edges>
bool write_costs(const SalientProblem& p, const std::vector<std::size_t>& first, Edges& edges, double* out) {
    const std::size_t reach = max_reach(p);
    std::fill_n(out, p.frames * reach, infinite);
    std::atomic<std::size_t> next{1};
    ThreadPool pool(std::max(1u, p.threads), p.keep_going);
    return pool.run([&](unsigned thread) {
        edges.prepare(pool, thread);
        if (!pool.wait_for_all()) return;
        for (std::size_t j; (j = next.fetch_add(1)) < p.frames && pool.should_continue(thread);) {
            const double* bounds = edges.row(j);
            for (std::size_t k = first[j]; k < j; ++k) {
                if (std::fabs(bounds[k]) > p.limit) continue;
                const double cost = edges.exact(k, j, p.limit);
                if (cost <= p.limit) out[k * reach + j - k - 1] = cost;
            }
        }
    });
}

}  // namespace

SalientPaths salient_paths(const SalientProblem& p) {
    const std::vector<std::size_t> first = first_parents(p);
    if (p.costs) {
        EdgeTable table(p.costs, p.frames, max_reach(p), first);
        return Search<EdgeTable>(p, first, table).run();
    }
    if (p.clip) {
        Inbetweens inbetweens(*p.clip, max_reach(p), first, p.kind);
        SalientProblem limited = p;
        if (p.top_only) {
            BoundsOnly bounds{inbetweens};
            const SalientPaths guess = Search<BoundsOnly>(p, first, bounds).run();
            if (!guess.finished) return guess;
            limited.limit = std::min(p.limit, exact_cost(p, guess, inbetweens));
        }
        return Search<Inbetweens>(limited, first, inbetweens).run();
    }
    Chords chords({p.points, p.frames, p.dims}, max_reach(p), first, edge_measure(p), p.max_distances);
    return Search<Chords>(p, first, chords).run();
}

bool salient_costs(const SalientProblem& p, double* out) {
    const std::vector<std::size_t> first = first_parents(p);
    if (p.clip) {
        Inbetweens inbetweens(*p.clip, max_reach(p), first, p.kind);
        return write_costs(p, first, inbetweens, out);
    }
    Chords chords({p.points, p.frames, p.dims}, max_reach(p), first, edge_measure(p), p.max_distances);
    return write_costs(p, first, chords, out);
}

}  // namespace keypose
