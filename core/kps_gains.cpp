#include "kps_gains.hpp"

#include <array>

namespace keypose::kps {
namespace {

using Matrix = std::array<double, 36>;  // (6, 6) symmetric: the squared error of points as a function of an Error

struct Skew {
    double m[3][3];  // the product of m and a vector e is o x e
    explicit Skew(V3 o) : m{{0, -o.z, o.y}, {o.z, 0, -o.x}, {-o.y, o.x, 0}} {}
};

// Adds the squared error of a point at the offset `o` from its joint: translation - o x rotation.
void add_point(Matrix& s, V3 o, double weight) {
    const Skew x(o);
    for (int i = 0; i < 3; ++i) {
        s[7 * i] += weight;
        for (int k = 0; k < 3; ++k) {
            s[6 * i + 3 + k] -= weight * x.m[i][k];
            s[6 * (3 + k) + i] -= weight * x.m[i][k];
            double square = 0;
            for (int m = 0; m < 3; ++m) square += x.m[m][i] * x.m[m][k];
            s[6 * (3 + i) + 3 + k] += weight * square;
        }
    }
}

// Adds the cost of a joint's error, expressed in the error of its parent at the offset `o`.
void add_child(Matrix& parent, const Matrix& child, V3 o) {
    const Skew x(o);
    double transformed[6][6];  // child * A, A = [1, -x; 0, 1]
    for (int r = 0; r < 6; ++r) {
        for (int c = 0; c < 3; ++c) {
            transformed[r][c] = child[6 * r + c];
            double sum = child[6 * r + 3 + c];
            for (int m = 0; m < 3; ++m) sum -= child[6 * r + m] * x.m[m][c];
            transformed[r][3 + c] = sum;
        }
    }
    for (int c = 0; c < 6; ++c) {
        for (int r = 0; r < 3; ++r) {
            parent[6 * r + c] += transformed[r][c];
            double sum = transformed[3 + r][c];
            for (int m = 0; m < 3; ++m) sum -= x.m[m][r] * transformed[m][c];
            parent[6 * (3 + r) + c] += sum;
        }
    }
}

// Computes the response and curvature of a track from gain.change; then subtracts from `s` the part of the cost that
// the optimal change of this number removes.
void eliminate(Matrix& s, Gain& gain) {
    double along[6];
    gain.curvature = 0;
    for (int r = 0; r < 6; ++r) {
        along[r] = 0;
        for (int c = 0; c < 6; ++c) along[r] += s[6 * r + c] * gain.change[c];
        gain.curvature += gain.change[r] * along[r];
    }
    const double inverse = gain.curvature > 1e-12 ? 1 / gain.curvature : 0;
    for (int r = 0; r < 6; ++r) {
        gain.response[r] = -along[r] * inverse;
        for (int c = 0; c < 6; ++c) s[6 * r + c] -= along[r] * along[c] * inverse;
    }
}

}  // namespace

Figure::Figure(const std::int32_t* parents_, int joints, const std::int32_t* end_joints_, const double* end_offsets_, int n_ends,
               double mm_per_unit_, const Clip& clip)
    : parents(parents_, parents_ + joints), end_joints(end_joints_, end_joints_ + n_ends), children(joints), ends(joints),
      mm_per_unit(mm_per_unit_) {
    for (int e = 0; e < n_ends; ++e) {
        end_offsets.push_back(mm_per_unit * vector_at(end_offsets_ + 3 * e));
        ends[end_joints[e]].push_back(e);
    }
    for (int joint = joints - 1; joint >= 0; --joint) {
        if (parents[joint] < 0) continue;
        auto& siblings = children[parents[joint]];
        siblings.push_back(joint);
        if (clip.charts[joint].numbers() > 0) continue;
        siblings.insert(siblings.end(), children[joint].begin(), children[joint].end());
        if (!clip.layout.has_tracks(joint)) children[joint] = {};  // in a long chain the lists would become long
    }
}

void gains(const Clip& clip, const Figure& figure, const Original& original, const Weights& weights, Gain* out) {
    std::vector<Matrix> cost(figure.joints());
    for (int joint = 0; joint < figure.joints(); ++joint) {
        cost[joint].fill(0);
        for (int i = 0; i < 3; ++i) {
            cost[joint][7 * i] = 7 * weights.joints[joint];
            cost[joint][7 * (i + 3)] = 4 * kArm * kArm * weights.joints[joint];
        }
    }
    for (std::size_t e = 0; e < figure.end_joints.size(); ++e) {
        const int joint = figure.end_joints[e];
        add_point(cost[joint], rotate(original.rotation(joint), figure.end_offsets[e]), weights.ends[e]);
    }
    for (int joint = figure.joints() - 1; joint >= 0; --joint) {
        const int parent = figure.parents[joint], first = clip.layout.first_track[joint];
        const int moving = clip.moves[joint] ? 3 : 0;
        for (int track = clip.layout.first_track[joint + 1] - 1; track >= first; --track) {
            const int index = track - first;
            V3 translation{}, rotation{};
            if (index < moving) {
                const V3 axis{index == 0 ? 1.0 : 0.0, index == 1 ? 1.0 : 0.0, index == 2 ? 1.0 : 0.0};
                translation = figure.mm_per_unit * (parent < 0 ? axis : rotate(original.rotation(parent), axis));
            } else {
                rotation = rotate(original.rotation(joint), derivative(clip.charts[joint], original.numbers + first + moving, index - moving));
            }
            Gain& gain = out[track];
            const double change[6] = {translation.x, translation.y, translation.z, rotation.x, rotation.y, rotation.z};
            for (int i = 0; i < 6; ++i) gain.change[i] = change[i];
            eliminate(cost[joint], gain);
        }
        if (parent >= 0) add_child(cost[parent], cost[joint], original.position(joint) - original.position(parent));
    }
}

}  // namespace keypose::kps
