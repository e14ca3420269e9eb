// Each span is a small nonlinear least-squares problem: two slopes for each turn and shift. Gauss-Newton with damping;
// what a slope does to the joints below it is known from a few sums over these joints (their weight, their first and
// second moments, the force and the torque of their errors), as in the dynamics of linked bodies.
#include "polish.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "chain.hpp"
#include "space.hpp"

namespace keypose {
namespace {

constexpr double most_damping = 1e8, first_damping = 1e-3, least_gain = 1e-4;
// Of quaternions between keys, and one over the greatest: shorter ones turn too fast, and edits make them swing.
constexpr double least_length = 0.6;

struct M3 {  // rows
    V3 r[3];
};

// What can be changed: both slopes of the four numbers of a turn, or of the three of a shift.
struct Handle {
    std::size_t joint;
    bool turns;
};
static_assert(wide == 8, "two slopes of four numbers");

// All handles of a figure, and how they hang on each other.
struct Handles {
    std::vector<Handle> all;
    std::vector<Link> links;
    std::size_t blocks = 0;
};

// Sums over a joint and all that hangs on it, about the joint.
struct Load {
    double weight = 0;
    V3 first, force, torque;
    M3 second;
};

class Span {
public:
    Span(const PolishProblem& p, const Handles& handles)
        : p_(p), c_(p.clip), handles_(handles.all), links_(handles.links), system_(handles.links, handles.blocks),
          slopes_(handles_.size() * wide), tried_(handles_.size() * wide), world_(c_.joints),
          locals_(c_.joints), places_(c_.joints), raw_(c_.joints * 4), loads_(c_.joints), maps_(handles_.size() * 12) {}

    // Polishes the span from key k to the next.
    void run(std::size_t k) {
        from_ = static_cast<std::size_t>(p_.keys[k]), to_ = static_cast<std::size_t>(p_.keys[k + 1]);
        gap_ = static_cast<double>(to_ - from_);
        gather(k);
        const std::vector<double> before = slopes_;
        scale_ = 1;
        judged(slopes_);
        const double worst_before = p_.worst_mm[k] = worst_;
        if (to_ - from_ < 3) return;  // as many slopes as frames, or more
        scale_ = std::max(worst_ * worst_, 1e-12);
        const double shortest = std::min(shortest_, least_length);
        for (const double stiffer : {1.0, 16.0, 256.0}) {
            length_weight_ = stiffer * p_.length_mm * p_.length_mm;
            slopes_ = before;
            improve();
            if (shortest_ >= shortest) break;
        }
        if (shortest_ < shortest || worst_ > std::max(worst_before, p_.limit_mm)) return;
        scatter(k);
        p_.worst_mm[k] = worst_;
    }

private:
    void improve() {
        double damping = first_damping;
        linearise();
        double cost = judged(slopes_), worst = worst_, shortest = shortest_;
        for (std::size_t round = 0; round < p_.rounds; ++round) {
            double found = cost;
            for (; damping < most_damping; damping *= 10) {
                const std::vector<double>& step = system_.solve(damping);
                for (std::size_t i = 0; i < slopes_.size(); ++i) tried_[i] = slopes_[i] + step[i];
                found = judged(tried_);
                if (found < cost) break;
            }
            if (!(found < cost)) break;
            const double gain = (cost - found) / cost;
            slopes_.swap(tried_);
            cost = found, worst = worst_, shortest = shortest_;
            damping = std::max(1e-9, damping / 10);
            if (gain < least_gain || round + 1 == p_.rounds) break;
            linearise();
        }
        worst_ = worst, shortest_ = shortest;
    }

    double* slope(std::size_t k, const Handle& h, bool leaving) const {
        if (h.turns) return (leaving ? p_.leaving_turns : p_.arriving_turns) + (k * c_.joints + h.joint) * 4;
        return (leaving ? p_.leaving_shifts : p_.arriving_shifts) + (k * c_.joints + h.joint) * 3;
    }

    void gather(std::size_t k) {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            const Handle& h = handles_[i];
            const std::size_t width = h.turns ? 4 : 3;
            double* mine = &slopes_[i * wide];
            std::fill_n(mine, wide, 0.0);
            std::copy_n(slope(k, h, true), width, mine);
            std::copy_n(slope(k + 1, h, false), width, mine + 4);
        }
    }

    void scatter(std::size_t k) const {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            const Handle& h = handles_[i];
            const std::size_t width = h.turns ? 4 : 3;
            std::copy_n(&slopes_[i * wide], width, slope(k, h, true));
            std::copy_n(&slopes_[i * wide + 4], width, slope(k + 1, h, false));
        }
    }

    // The pose of frame t for given slopes.
    void pose(std::size_t t, const std::vector<double>& slopes) {
        const double s = static_cast<double>(t - from_) / gap_;
        climb_ = s * s * (3 - 2 * s), a_ = gap_ * s * (1 - s) * (1 - s), b_ = -gap_ * s * s * (1 - s);
        const std::size_t n = c_.joints;
        for (std::size_t j = 0; j < n; ++j) {
            const double* q = c_.rotations + (t * n + j) * 4;  // of a joint that nothing hangs on
            locals_[j] = {q[0], q[1], q[2], q[3]};
            places_[j] = vector_at(c_.translations + (t * n + j) * 3);
        }
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            const Handle& h = handles_[i];
            const double* m = &slopes[i * wide];
            double at[4];
            const std::size_t width = h.turns ? 4 : 3;
            const double* values = h.turns ? c_.rotations : c_.translations;
            for (std::size_t c = 0; c < width; ++c) {
                const double p0 = values[(from_ * n + h.joint) * width + c], p1 = values[(to_ * n + h.joint) * width + c];
                at[c] = p0 + climb_ * (p1 - p0) + a_ * m[c] + b_ * m[4 + c];
            }
            if (h.turns) {
                std::copy_n(at, 4, &raw_[h.joint * 4]);
                const double length = std::sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2] + at[3] * at[3]);
                const double unit = length > 0 ? 1 / length : 0;
                locals_[h.joint] = {at[0] * unit, at[1] * unit, at[2] * unit, at[3] * unit};
            } else {
                places_[h.joint] = vector_at(at);
            }
        }
        for (std::size_t j = 0; j < n; ++j) {
            if (c_.parents[j] < 0) {
                world_[j] = locals_[j];
                continue;
            }
            const auto parent = static_cast<std::size_t>(c_.parents[j]);
            places_[j] = places_[parent] + turned(world_[parent], places_[j]);
            world_[j] = world_[parent] * locals_[j];
        }
    }

    V3 off(std::size_t t, std::size_t j) const { return vector_at(c_.positions + (t * c_.joints + j) * 3) - places_[j]; }

    // The sum that is made small; in passing, the largest error and the length of the shortest quaternion, or one over
    // that of the longest.
    double judged(const std::vector<double>& slopes) {
        double cost = 0, largest = 0, shortest = 1;
        const double turn_weight = 4 * p_.lever_mm * p_.lever_mm;
        for (std::size_t t = from_ + 1; t < to_; ++t) {
            pose(t, slopes);
            for (std::size_t j = 0; j < c_.joints; ++j) {
                if (c_.weights[j] <= 0) continue;
                const V3 e = off(t, j);
                const double square = dot(e, e);
                largest = std::max(largest, square);
                cost += c_.weights[j] * square * (p_.power == 2 ? 1 : std::pow(square / scale_, p_.power / 2 - 1));
            }
            for (const Handle& h : handles_) {
                if (!h.turns) continue;
                const double* wanted = c_.rotations + (t * c_.joints + h.joint) * 4;
                double along = 1, square = 0;
                for (std::size_t c = 0; c < 4; ++c) {
                    const double q = raw_[h.joint * 4 + c], d = wanted[c] - q;
                    cost += turn_weight * d * d;
                    along -= wanted[c] * q;
                    square += q * q;
                }
                cost += length_weight_ * along * along;
                shortest = std::min({shortest, square, 1 / std::max(square, 1e-12)});
            }
        }
        worst_ = std::sqrt(largest);
        shortest_ = std::sqrt(shortest);
        return cost;
    }

    // The normal equations about the slopes at hand.
    void linearise() {
        const std::size_t n = c_.joints;
        system_.clear();
        const double turn_weight = 4 * p_.lever_mm * p_.lever_mm;
        for (std::size_t t = from_ + 1; t < to_; ++t) {
            pose(t, slopes_);
            load(t);
            for (std::size_t i = 0; i < handles_.size(); ++i) map(i);
            const double aa = a_ * a_, ab = a_ * b_, bb = b_ * b_;
            for (std::size_t i = 0; i < handles_.size(); ++i) {
                const Handle& h = handles_[i];
                const Load& l = loads_[h.joint];
                const double* mine = &maps_[i * 12];
                const V3 push = h.turns ? l.torque : l.force;
                double* right = system_.right(i);
                const double* wanted = c_.rotations + (t * n + h.joint) * 4;
                const double* raw = &raw_[h.joint * 4];
                double along = h.turns;
                for (std::size_t c = 0; c < 4 && h.turns; ++c) along -= wanted[c] * raw[c];
                for (std::size_t c = 0; c < 4; ++c) {
                    double pull = mine[c] * push.x + mine[4 + c] * push.y + mine[8 + c] * push.z;
                    if (h.turns) pull += turn_weight * (wanted[c] - raw[c]) + length_weight_ * along * wanted[c];
                    right[c] += a_ * pull;
                    right[4 + c] += b_ * pull;
                }
                std::size_t other = i;
                for (std::size_t d = 0; d < links_[i].depth; ++d) {
                    double k[4][4];
                    coupled(i, other, k);
                    other = static_cast<std::size_t>(links_[other].parent);
                    if (d == 0 && h.turns)
                        for (int r = 0; r < 4; ++r) {
                            k[r][r] += turn_weight;
                            for (int c = 0; c < 4; ++c) k[r][c] += length_weight_ * wanted[r] * wanted[c];
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

    // Bottom up: what hangs on each joint.
    void load(std::size_t t) {
        for (std::size_t j = c_.joints; j-- > 0;) loads_[j] = Load{};
        for (std::size_t j = c_.joints; j-- > 0;) {
            Load& l = loads_[j];
            if (c_.weights[j] > 0) {
                const V3 e = off(t, j);
                double w = c_.weights[j];
                if (p_.power != 2) w *= p_.power / 2 * std::pow(dot(e, e) / scale_, p_.power / 2 - 1);
                l.weight += w;
                l.force = l.force + w * e;
            }
            if (c_.parents[j] < 0) continue;
            const auto parent = static_cast<std::size_t>(c_.parents[j]);
            Load& up = loads_[parent];
            const V3 arm = places_[j] - places_[parent];
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

    // The linear map (3, 4) from a handle's channels to the turning of the world below it, or to its shift.
    void map(std::size_t i) {
        const Handle& h = handles_[i];
        double* out = &maps_[i * 12];
        const bool is_root = c_.parents[h.joint] < 0;
        const Q above = is_root ? Q{} : world_[static_cast<std::size_t>(c_.parents[h.joint])];
        if (!h.turns) {
            const V3 columns[3] = {turned(above, {1, 0, 0}), turned(above, {0, 1, 0}), turned(above, {0, 0, 1})};
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
            const V3 v = turned(above, scale * columns[c]);
            out[c] = v.x, out[4 + c] = v.y, out[8 + c] = v.z;
        }
    }

    // The second derivatives (4, 4) of the squared errors by handle i and one above it, of the channels in this frame.
    void coupled(std::size_t i, std::size_t above, double (&out)[4][4]) const {
        const Handle &h = handles_[i], &a = handles_[above];
        const Load& l = loads_[h.joint];
        const V3 apart = places_[h.joint] - places_[a.joint];
        M3 k;
        if (h.turns && a.turns) {  // sum of (r . s) 1 - s r^T, with s = r + apart
            const double trace = l.second.r[0].x + l.second.r[1].y + l.second.r[2].z + dot(l.first, apart);
            const double shifts[3] = {apart.x, apart.y, apart.z};
            for (int r = 0; r < 3; ++r) k.r[r] = -1 * (l.second.r[r] + shifts[r] * l.first);
            k.r[0].x += trace, k.r[1].y += trace, k.r[2].z += trace;
        } else if (h.turns) {  // first x
            k = {{{0, -l.first.z, l.first.y}, {l.first.z, 0, -l.first.x}, {-l.first.y, l.first.x, 0}}};
        } else if (a.turns) {  // - (first + weight apart) x
            const V3 f = l.first + l.weight * apart;
            k = {{{0, f.z, -f.y}, {-f.z, 0, f.x}, {f.y, -f.x, 0}}};
        } else {
            k = {{{l.weight, 0, 0}, {0, l.weight, 0}, {0, 0, l.weight}}};
        }
        const double *mine = &maps_[i * 12], *theirs = &maps_[above * 12];
        double half[3][4];
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 4; ++c)
                half[r][c] = k.r[r].x * theirs[c] + k.r[r].y * theirs[4 + c] + k.r[r].z * theirs[8 + c];
        for (int r = 0; r < 4; ++r)
            for (int c = 0; c < 4; ++c)
                out[r][c] = mine[r] * half[0][c] + mine[4 + r] * half[1][c] + mine[8 + r] * half[2][c];
    }

    const PolishProblem& p_;
    const Clip& c_;
    const std::vector<Handle>& handles_;
    const std::vector<Link>& links_;
    Chains system_;
    std::vector<double> slopes_, tried_;
    std::vector<Q> world_, locals_;
    std::vector<V3> places_;
    std::vector<double> raw_;
    std::vector<Load> loads_;
    std::vector<double> maps_;
    std::size_t from_ = 0, to_ = 0;
    double length_weight_ = 0, worst_ = 0, shortest_ = 1, scale_ = 1, gap_ = 0, climb_ = 0, a_ = 0, b_ = 0;
};

Handles handles_of(const Clip& clip) {
    const std::size_t n = clip.joints;
    std::vector<char> carries(n, 0);
    for (std::size_t j = n; j-- > 0;)
        if ((carries[j] || clip.weights[j] > 0) && clip.parents[j] >= 0)
            carries[static_cast<std::size_t>(clip.parents[j])] = 1;
    const auto changes = [&](const double* values, std::size_t width, std::size_t j) {
        for (std::size_t t = 1; t < clip.frames; ++t)
            if (!std::equal(values + j * width, values + (j + 1) * width, values + (t * n + j) * width)) return true;
        return false;
    };
    Handles handles;
    std::vector<int> lowest(n, -1);  // the last handle on the chain that ends in each joint
    for (std::size_t j = 0; j < n; ++j) {
        lowest[j] = clip.parents[j] < 0 ? -1 : lowest[static_cast<std::size_t>(clip.parents[j])];
        for (const bool turns : {false, true}) {
            const bool matters = carries[j] || (!turns && clip.weights[j] > 0);
            if (!matters || !(turns ? changes(clip.rotations, 4, j) : changes(clip.translations, 3, j))) continue;
            const std::size_t depth = lowest[j] < 0 ? 1 : handles.links[static_cast<std::size_t>(lowest[j])].depth + 1;
            handles.all.push_back({j, turns});
            handles.links.push_back({lowest[j], handles.blocks, depth});
            handles.blocks += depth;
            lowest[j] = static_cast<int>(handles.all.size()) - 1;
        }
    }
    return handles;
}

}  // namespace

bool polish(const PolishProblem& problem) {
    const Handles handles = handles_of(problem.clip);
    const std::size_t spans = problem.n_keys - 1;
    std::atomic<std::size_t> next{0};
    Team team(std::max(1u, problem.threads), problem.keep_going);
    return team.run([&](unsigned thread) {
        Span span(problem, handles);
        for (std::size_t k; (k = next.fetch_add(1)) < spans && team.goes_on(thread);)
            span.run(k);
    });
}

}  // namespace keypose
