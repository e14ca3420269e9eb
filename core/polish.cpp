// Each span is a small nonlinear least-squares problem with two tangents for each rotation and translation as unknowns,
// solved by the damped Gauss-Newton method. The effect of a tangent on the descendants of its joint follows from a few
// sums over them (weight, first and second moments, force and torque of their errors), as in the dynamics of linked
// bodies.
#include "polish.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "chain_solver.hpp"
#include "quaternions.hpp"

namespace keypose {
namespace {

constexpr double max_damping = 1e8, initial_damping = 1e-3, min_gain = 1e-4;
// Minimum length of the interpolated quaternions and of its inverse. Where they are shorter, the normalised rotation is
// too fast, and edits of the keys make it overshoot.
constexpr double min_length = 0.6;

struct M3 {  // rows
    V3 r[3];
};

// The unknowns of one rotation (two tangents of four channels) or one translation (two tangents of three channels).
struct Handle {
    std::size_t joint;
    bool is_rotation;
};
static_assert(kUnknowns == 8, "two tangents of four channels");

// All handles of a figure and their tree; a joint with both has its translation above its rotation.
struct Handles {
    std::vector<Handle> all;
    std::vector<Link> links;
    std::size_t blocks = 0;
};

// Sums over a joint and its descendants, with moments about the joint.
struct Load {
    double weight = 0;
    V3 first, force, torque;
    M3 second;
};

class Span {
public:
    Span(const PolishProblem& p, const Handles& handles)
        : p_(p), c_(p.clip), handles_(handles.all), links_(handles.links), system_(handles.links, handles.blocks),
          tangents_(handles_.size() * kUnknowns), trial_(handles_.size() * kUnknowns), world_(c_.joints),
          locals_(c_.joints), positions_(c_.joints), raw_(c_.joints * 4), loads_(c_.joints), maps_(handles_.size() * 12) {}

    // Polishes the span from key k to the next one.
    void run(std::size_t k) {
        improve_span(k);
        if (!p_.key_positions) return;
        read_tangents(k);
        for (const bool is_end : {false, true}) {
            pose(is_end ? to_ - 1 : from_ + 1, tangents_);
            double* out = p_.key_positions + key_row(is_end);
            for (std::size_t j = 0; j < c_.joints; ++j, out += 3) out[0] = positions_[j].x, out[1] = positions_[j].y, out[2] = positions_[j].z;
        }
    }

private:
    void improve_span(std::size_t k) {
        span_ = k;
        from_ = static_cast<std::size_t>(p_.keys[k]), to_ = static_cast<std::size_t>(p_.keys[k + 1]);
        gap_ = static_cast<double>(to_ - from_);
        read_tangents(k);
        const std::vector<double> before = tangents_;
        scale_ = 1;
        evaluate(tangents_);
        const double worst_before = p_.worst_mm[k] = worst_;
        if (to_ - from_ < 3) return;  // with one inner frame or none the fitted tangents are exact
        scale_ = std::max(worst_ * worst_, 1e-12);
        const double min_length_now = std::min(min_length_, min_length);
        for (const double stiffness : {1.0, 16.0, 256.0}) {
            length_weight_ = stiffness * p_.length_mm * p_.length_mm;
            tangents_ = before;
            improve();
            if (min_length_ >= min_length_now) break;
        }
        if (min_length_ < min_length_now || worst_ > std::max(worst_before, p_.limit_mm)) return;
        write_tangents(k);
        p_.worst_mm[k] = worst_;
    }

    void improve() {
        double damping = initial_damping;
        linearise();
        double cost = evaluate(tangents_), worst = worst_, min_length_now = min_length_;
        for (std::size_t round = 0; round < p_.rounds; ++round) {
            double new_cost = cost;
            for (; damping < max_damping; damping *= 10) {
                const std::vector<double>& step = system_.solve(damping);
                for (std::size_t i = 0; i < tangents_.size(); ++i) trial_[i] = tangents_[i] + step[i];
                new_cost = evaluate(trial_);
                if (new_cost < cost) break;
            }
            if (!(new_cost < cost)) break;
            const double gain = (cost - new_cost) / cost;
            tangents_.swap(trial_);
            cost = new_cost, worst = worst_, min_length_now = min_length_;
            damping = std::max(1e-9, damping / 10);
            if (gain < min_gain || round + 1 == p_.rounds) break;
            linearise();
        }
        worst_ = worst, min_length_ = min_length_now;
    }

    double* tangent(std::size_t k, const Handle& h, bool is_out) const {
        if (h.is_rotation) return (is_out ? p_.out_rotation_tangents : p_.in_rotation_tangents) + (k * c_.joints + h.joint) * 4;
        return (is_out ? p_.out_translation_tangents : p_.in_translation_tangents) + (k * c_.joints + h.joint) * 3;
    }

    void read_tangents(std::size_t k) {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            const Handle& h = handles_[i];
            const std::size_t width = h.is_rotation ? 4 : 3;
            double* own = &tangents_[i * kUnknowns];
            std::fill_n(own, kUnknowns, 0.0);
            std::copy_n(tangent(k, h, true), width, own);
            std::copy_n(tangent(k + 1, h, false), width, own + 4);
        }
    }

    void write_tangents(std::size_t k) const {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            const Handle& h = handles_[i];
            const std::size_t width = h.is_rotation ? 4 : 3;
            std::copy_n(&tangents_[i * kUnknowns], width, tangent(k, h, true));
            std::copy_n(&tangents_[i * kUnknowns + 4], width, tangent(k + 1, h, false));
        }
    }

    // Computes the pose of frame t for given tangents.
    void pose(std::size_t t, const std::vector<double>& tangents) {
        const double s = static_cast<double>(t - from_) / gap_;
        blend_ = s * s * (3 - 2 * s), a_ = gap_ * s * (1 - s) * (1 - s), b_ = -gap_ * s * s * (1 - s);
        const std::size_t n = c_.joints;
        for (std::size_t j = 0; j < n; ++j) {
            const double* q = c_.rotations + (t * n + j) * 4;  // replaced below for joints with handles
            locals_[j] = {q[0], q[1], q[2], q[3]};
            positions_[j] = vector_at(c_.translations + (t * n + j) * 3);
        }
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            const Handle& h = handles_[i];
            const double* m = &tangents[i * kUnknowns];
            double at[4];
            const std::size_t width = h.is_rotation ? 4 : 3;
            const double* values = h.is_rotation ? c_.rotations : c_.translations;
            for (std::size_t c = 0; c < width; ++c) {
                const double p0 = values[(from_ * n + h.joint) * width + c], p1 = values[(to_ * n + h.joint) * width + c];
                at[c] = p0 + blend_ * (p1 - p0) + a_ * m[c] + b_ * m[4 + c];
            }
            if (h.is_rotation) {
                std::copy_n(at, 4, &raw_[h.joint * 4]);
                const double length = std::sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2] + at[3] * at[3]);
                const double scale = length > 0 ? 1 / length : 0;
                locals_[h.joint] = {at[0] * scale, at[1] * scale, at[2] * scale, at[3] * scale};
            } else {
                positions_[h.joint] = vector_at(at);
            }
        }
        for (std::size_t j = 0; j < n; ++j) {
            if (c_.parents[j] < 0) {
                world_[j] = locals_[j];
                continue;
            }
            const auto parent = static_cast<std::size_t>(c_.parents[j]);
            positions_[j] = positions_[parent] + rotate(world_[parent], positions_[j]);
            world_[j] = world_[parent] * locals_[j];
        }
    }

    // Returns where the frame beside the key at the start or the end of this span is in arrays (n_keys, 2, joints, 3).
    std::size_t key_row(bool is_end) const { return (2 * (span_ + is_end) + !is_end) * c_.joints * 3; }

    // Returns the weight of the second targets of frame t: those of the start or the end of this span; 0: it has none.
    double key_weight(std::size_t t, bool is_end) const {
        return p_.key_targets && t == (is_end ? to_ - 1 : from_ + 1) ? p_.key_weights[span_ + is_end] : 0;
    }

    V3 key_error(std::size_t j, bool is_end) const { return vector_at(p_.key_targets + key_row(is_end) + j * 3) - positions_[j]; }

    V3 position_error(std::size_t t, std::size_t j) const { return vector_at(c_.positions + (t * c_.joints + j) * 3) - positions_[j]; }

    // Returns the cost that is minimised. Sets worst_ to the largest error and min_length_ to the minimum length of a
    // quaternion or the inverse of the maximum length, whichever is smaller.
    double evaluate(const std::vector<double>& tangents) {
        double cost = 0, largest = 0, min_length_now = 1;
        const double rotation_weight = 4 * p_.lever_mm * p_.lever_mm;
        for (std::size_t t = from_ + 1; t < to_; ++t) {
            pose(t, tangents);
            for (const bool is_end : {false, true}) {
                const double weight = key_weight(t, is_end);
                for (std::size_t j = 0; j < c_.joints && weight > 0; ++j) {
                    const V3 e = key_error(j, is_end);
                    cost += weight * c_.weights[j] * dot(e, e);
                }
            }
            for (std::size_t j = 0; j < c_.joints; ++j) {
                if (c_.weights[j] <= 0) continue;
                const V3 e = position_error(t, j);
                const double square = dot(e, e);
                largest = std::max(largest, square);
                cost += c_.weights[j] * square * (p_.power == 2 ? 1 : std::pow(square / scale_, p_.power / 2 - 1));
            }
            for (const Handle& h : handles_) {
                if (!h.is_rotation) continue;
                const double* target = c_.rotations + (t * c_.joints + h.joint) * 4;
                double along = 1, square = 0;
                for (std::size_t c = 0; c < 4; ++c) {
                    const double q = raw_[h.joint * 4 + c], d = target[c] - q;
                    cost += rotation_weight * d * d;
                    along -= target[c] * q;
                    square += q * q;
                }
                cost += length_weight_ * along * along;
                min_length_now = std::min({min_length_now, square, 1 / std::max(square, 1e-12)});
            }
        }
        worst_ = std::sqrt(largest);
        min_length_ = std::sqrt(min_length_now);
        return cost;
    }

    // Sets up the normal equations at the current tangents.
    void linearise() {
        const std::size_t n = c_.joints;
        system_.clear();
        const double rotation_weight = 4 * p_.lever_mm * p_.lever_mm;
        for (std::size_t t = from_ + 1; t < to_; ++t) {
            pose(t, tangents_);
            load(t);
            for (std::size_t i = 0; i < handles_.size(); ++i) map(i);
            const double aa = a_ * a_, ab = a_ * b_, bb = b_ * b_;
            for (std::size_t i = 0; i < handles_.size(); ++i) {
                const Handle& h = handles_[i];
                const Load& l = loads_[h.joint];
                const double* own = &maps_[i * 12];
                const V3 generalized_force = h.is_rotation ? l.torque : l.force;
                double* right = system_.right(i);
                const double* target = c_.rotations + (t * n + h.joint) * 4;
                const double* raw = &raw_[h.joint * 4];
                double along = h.is_rotation;
                for (std::size_t c = 0; c < 4 && h.is_rotation; ++c) along -= target[c] * raw[c];
                for (std::size_t c = 0; c < 4; ++c) {
                    double force = own[c] * generalized_force.x + own[4 + c] * generalized_force.y + own[8 + c] * generalized_force.z;
                    if (h.is_rotation) force += rotation_weight * (target[c] - raw[c]) + length_weight_ * along * target[c];
                    right[c] += a_ * force;
                    right[4 + c] += b_ * force;
                }
                std::size_t other = i;
                for (std::size_t d = 0; d < links_[i].depth; ++d) {
                    double k[4][4];
                    coupling(i, other, k);
                    other = static_cast<std::size_t>(links_[other].parent);
                    if (d == 0 && h.is_rotation)
                        for (int r = 0; r < 4; ++r) {
                            k[r][r] += rotation_weight;
                            for (int c = 0; c < 4; ++c) k[r][c] += length_weight_ * target[r] * target[c];
                        }
                    Block& block = system_.block(i, d);
                    for (int r = 0; r < 4; ++r)
                        for (int c = 0; c < 4; ++c) {
                            block.v[r][c] += aa * k[r][c];
                            block.v[r][4 + c] += ab * k[r][c];
                            block.v[4 + r][c] += ab * k[r][c];
                            block.v[4 + r][4 + c] += bb * k[r][c];
                        }
                }
            }
        }
    }

    // Computes the loads of all joints in frame t, from the leaves to the root.
    void load(std::size_t t) {
        for (std::size_t j = c_.joints; j-- > 0;) loads_[j] = Load{};
        for (std::size_t j = c_.joints; j-- > 0;) {
            Load& l = loads_[j];
            if (c_.weights[j] > 0) {
                const V3 e = position_error(t, j);
                double w = c_.weights[j];
                if (p_.power != 2) w *= p_.power / 2 * std::pow(dot(e, e) / scale_, p_.power / 2 - 1);
                l.weight += w;
                l.force = l.force + w * e;
                for (const bool is_end : {false, true}) {
                    const double weight = key_weight(t, is_end) * c_.weights[j];
                    if (!(weight > 0)) continue;
                    l.weight += weight;
                    l.force = l.force + weight * key_error(j, is_end);
                }
            }
            if (c_.parents[j] < 0) continue;
            const auto parent = static_cast<std::size_t>(c_.parents[j]);
            Load& up = loads_[parent];
            const V3 arm = positions_[j] - positions_[parent];
            up.weight += l.weight;
            up.force = up.force + l.force;
            up.torque = up.torque + l.torque + cross(arm, l.force);
            up.first = up.first + l.first + l.weight * arm;
            const V3 rows[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
            for (int r = 0; r < 3; ++r) {
                const double arm_r = dot(rows[r], arm), first_r = dot(rows[r], l.first);
                up.second.r[r] = up.second.r[r] + l.second.r[r] + first_r * arm + arm_r * l.first + (arm_r * l.weight) * arm;
            }
        }
    }

    // Computes the linear map (3, 4) from changes of the channels of a handle to the world rotation vector, or the
    // world translation, of the descendants.
    void map(std::size_t i) {
        const Handle& h = handles_[i];
        double* out = &maps_[i * 12];
        const bool is_root = c_.parents[h.joint] < 0;
        const Q above = is_root ? Q{} : world_[static_cast<std::size_t>(c_.parents[h.joint])];
        if (!h.is_rotation) {
            const V3 columns[3] = {rotate(above, {1, 0, 0}), rotate(above, {0, 1, 0}), rotate(above, {0, 0, 1})};
            for (std::size_t c = 0; c < 4; ++c) {
                const V3 v = c < 3 ? columns[c] : V3{};
                out[c] = v.x, out[4 + c] = v.y, out[8 + c] = v.z;
            }
            return;
        }
        const double* q = &raw_[h.joint * 4];
        const double scale = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        // Twice the vector part of d q*, for a change d of q.
        const V3 columns[4] = {{-q[1], -q[2], -q[3]}, {q[0], q[3], -q[2]}, {-q[3], q[0], q[1]}, {q[2], -q[1], q[0]}};
        for (std::size_t c = 0; c < 4; ++c) {
            const V3 v = rotate(above, scale * columns[c]);
            out[c] = v.x, out[4 + c] = v.y, out[8 + c] = v.z;
        }
    }

    // Computes the second derivatives (4, 4) of the squared errors of this frame by the channels of handle i and of one
    // above it (or i itself).
    void coupling(std::size_t i, std::size_t above, double (&out)[4][4]) const {
        const Handle &h = handles_[i], &a = handles_[above];
        const Load& l = loads_[h.joint];
        const V3 offset = positions_[h.joint] - positions_[a.joint];
        M3 k;
        if (h.is_rotation && a.is_rotation) {  // sum of (r . s) 1 - s r^T, with s = r + offset
            const double trace = l.second.r[0].x + l.second.r[1].y + l.second.r[2].z + dot(l.first, offset);
            const double shifts[3] = {offset.x, offset.y, offset.z};
            for (int r = 0; r < 3; ++r) k.r[r] = -1 * (l.second.r[r] + shifts[r] * l.first);
            k.r[0].x += trace, k.r[1].y += trace, k.r[2].z += trace;
        } else if (h.is_rotation) {  // first x
            k = {{{0, -l.first.z, l.first.y}, {l.first.z, 0, -l.first.x}, {-l.first.y, l.first.x, 0}}};
        } else if (a.is_rotation) {  // - (first + weight offset) x
            const V3 f = l.first + l.weight * offset;
            k = {{{0, f.z, -f.y}, {-f.z, 0, f.x}, {f.y, -f.x, 0}}};
        } else {
            k = {{{l.weight, 0, 0}, {0, l.weight, 0}, {0, 0, l.weight}}};
        }
        const double *own = &maps_[i * 12], *ancestor = &maps_[above * 12];
        double product[3][4];
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 4; ++c)
                product[r][c] = k.r[r].x * ancestor[c] + k.r[r].y * ancestor[4 + c] + k.r[r].z * ancestor[8 + c];
        for (int r = 0; r < 4; ++r)
            for (int c = 0; c < 4; ++c)
                out[r][c] = own[r] * product[0][c] + own[4 + r] * product[1][c] + own[8 + r] * product[2][c];
    }

    const PolishProblem& p_;
    const Clip& c_;
    const std::vector<Handle>& handles_;
    const std::vector<Link>& links_;
    ChainSolver system_;
    std::vector<double> tangents_, trial_;
    std::vector<Q> world_, locals_;
    std::vector<V3> positions_;
    std::vector<double> raw_;
    std::vector<Load> loads_;
    std::vector<double> maps_;
    std::size_t span_ = 0, from_ = 0, to_ = 0;
    double length_weight_ = 0, worst_ = 0, min_length_ = 1, scale_ = 1, gap_ = 0, blend_ = 0, a_ = 0, b_ = 0;
};

Handles handles_of(const PolishProblem& problem) {
    const Clip& clip = problem.clip;
    const std::size_t n = clip.joints;
    std::vector<char> has_weighted_descendant(n, 0);
    for (std::size_t j = n; j-- > 0;)
        if ((has_weighted_descendant[j] || clip.weights[j] > 0) && clip.parents[j] >= 0)
            has_weighted_descendant[static_cast<std::size_t>(clip.parents[j])] = 1;
    Handles handles;
    std::vector<int> last_handle(n, -1);  // of each joint: the last handle on the chain from the root to it
    for (std::size_t j = 0; j < n; ++j) {
        last_handle[j] = clip.parents[j] < 0 ? -1 : last_handle[static_cast<std::size_t>(clip.parents[j])];
        for (const bool is_rotation : {false, true}) {
            const bool matters = has_weighted_descendant[j] || (!is_rotation && clip.weights[j] > 0);
            if (!matters || !problem.moves[2 * j + is_rotation]) continue;
            const std::size_t depth = last_handle[j] < 0 ? 1 : handles.links[static_cast<std::size_t>(last_handle[j])].depth + 1;
            handles.all.push_back({j, is_rotation});
            handles.links.push_back({last_handle[j], handles.blocks, depth});
            handles.blocks += depth;
            last_handle[j] = static_cast<int>(handles.all.size()) - 1;
        }
    }
    return handles;
}

}  // namespace

bool polish(const PolishProblem& problem) {
    const Handles handles = handles_of(problem);
    const std::size_t spans = problem.n_keys - 1;
    std::atomic<std::size_t> next{0};
    ThreadPool pool(std::max(1u, problem.threads), problem.keep_going);
    return pool.run([&](unsigned thread) {
        Span span(problem, handles);
        for (std::size_t k; (k = next.fetch_add(1)) < spans && pool.should_continue(thread);)
            span.run(k);
    });
}

}  // namespace keypose
