// Linear equations with the sparsity of a joint tree: only unknowns on one chain to the root are coupled, so
// elimination from the leaves to the root creates no fill-in.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace keypose {

constexpr std::size_t kUnknowns = 8;  // of each link

// A set of unknowns in the tree. Links are sorted: a parent comes before its children.
struct Link {
    int parent;               // index of the parent link; -1: a root
    std::size_t first_block;  // index of its first block; its blocks couple it with itself, its parent, grandparent, ...
    std::size_t depth;        // number of its blocks; 1 for a root
};

struct Block {
    double v[kUnknowns][kUnknowns];
};

class ChainSolver {
public:
    ChainSolver(const std::vector<Link>& links, std::size_t blocks)
        : links_(links), blocks_(blocks), work_(blocks), right_(links.size() * kUnknowns), step_(links.size() * kUnknowns) {}

    // The equations: the block of coefficients of a link with its ancestor `up` links above (0: itself), and the
    // right-hand side of a link.
    Block& block(std::size_t link, std::size_t up) { return blocks_[links_[link].first_block + up]; }
    double* right(std::size_t link) { return &right_[link * kUnknowns]; }
    void clear() {
        for (auto& block : blocks_) std::fill_n(&block.v[0][0], kUnknowns * kUnknowns, 0.0);
        std::fill(right_.begin(), right_.end(), 0.0);
    }

    // Solves the equations with the diagonal multiplied by 1 + damping.
    const std::vector<double>& solve(double damping) {
        work_ = blocks_;
        step_ = right_;
        for (std::size_t i = links_.size(); i-- > 0;) {
            Block& own = work_[links_[i].first_block];
            for (std::size_t c = 0; c < kUnknowns; ++c) {
                own.v[c][c] *= 1 + damping;
                if (!(own.v[c][c] > 1e-12)) own.v[c][c] = 1;  // an unknown that no equation contains
            }
        }
        for (std::size_t i = links_.size(); i-- > 0;) eliminate(i);
        for (std::size_t i = 0; i < links_.size(); ++i) substitute(i);
        return step_;
    }

private:
    // Factors the block of link i with itself and removes its unknowns from the equations of its ancestors.
    void eliminate(std::size_t i) {
        const Link& link = links_[i];
        Block* own = &work_[link.first_block];
        double* y = &step_[i * kUnknowns];
        factor(own[0]);
        solve_lower(own[0], y, 1);
        for (std::size_t d = 1; d < link.depth; ++d) solve_lower(own[0], &own[d].v[0][0], kUnknowns);
        int above = link.parent;
        for (std::size_t d = 1; d < link.depth; ++d) {
            const auto a = static_cast<std::size_t>(above);
            for (std::size_t e = d; e < link.depth; ++e) reduce(work_[links_[a].first_block + e - d], own[d], own[e]);
            double* right = &step_[a * kUnknowns];
            for (std::size_t r = 0; r < kUnknowns; ++r)
                for (std::size_t c = 0; c < kUnknowns; ++c) right[c] -= own[d].v[r][c] * y[r];
            above = links_[a].parent;
        }
    }

    // Computes the unknowns of link i from those of its ancestors.
    void substitute(std::size_t i) {
        const Link& link = links_[i];
        const Block* own = &work_[link.first_block];
        double* x = &step_[i * kUnknowns];
        int above = link.parent;
        for (std::size_t d = 1; d < link.depth; ++d) {
            const auto a = static_cast<std::size_t>(above);
            for (std::size_t r = 0; r < kUnknowns; ++r)
                for (std::size_t c = 0; c < kUnknowns; ++c) x[r] -= own[d].v[r][c] * step_[a * kUnknowns + c];
            above = links_[a].parent;
        }
        for (std::size_t r = kUnknowns; r-- > 0;) {
            for (std::size_t c = r + 1; c < kUnknowns; ++c) x[r] -= own[0].v[c][r] * x[c];
            x[r] /= own[0].v[r][r];
        }
    }

    static void factor(Block& b) {  // Cholesky factor, stored in the lower half of b
        for (std::size_t r = 0; r < kUnknowns; ++r)
            for (std::size_t c = 0; c <= r; ++c) {
                double sum = b.v[r][c];
                for (std::size_t k = 0; k < c; ++k) sum -= b.v[r][k] * b.v[c][k];
                b.v[r][c] = r == c ? std::sqrt(std::max(sum, 1e-300)) : sum / b.v[c][c];
            }
    }

    // Replaces x (kUnknowns, columns) by the solution of L x' = x, L the lower half of a factored block.
    static void solve_lower(const Block& l, double* x, std::size_t columns) {
        for (std::size_t r = 0; r < kUnknowns; ++r) {
            for (std::size_t k = 0; k < r; ++k)
                for (std::size_t c = 0; c < columns; ++c) x[r * columns + c] -= l.v[r][k] * x[k * columns + c];
            for (std::size_t c = 0; c < columns; ++c) x[r * columns + c] /= l.v[r][r];
        }
    }

    static void reduce(Block& target, const Block& a, const Block& b) {  // target -= a^T b
        for (std::size_t k = 0; k < kUnknowns; ++k)
            for (std::size_t r = 0; r < kUnknowns; ++r)
                for (std::size_t c = 0; c < kUnknowns; ++c) target.v[r][c] -= a.v[k][r] * b.v[k][c];
    }

    const std::vector<Link>& links_;
    std::vector<Block> blocks_, work_;
    std::vector<double> right_, step_;
};

}  // namespace keypose
