// Scalar 3D vectors and quaternions.
#pragma once
#include <cmath>

namespace keypose {

struct V3 {
    double x = 0, y = 0, z = 0;
};
inline V3 operator+(V3 a, V3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline V3 operator-(V3 a, V3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline V3 operator*(double s, V3 a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline V3 cross(V3 a, V3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline V3 vector_at(const double* v) { return {v[0], v[1], v[2]}; }

struct Q {
    double w = 1, x = 0, y = 0, z = 0;
};
inline Q operator*(Q a, Q b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
inline V3 rotate(Q q, V3 v) {
    const V3 u{q.x, q.y, q.z}, c = 2 * cross(u, v);
    return v + q.w * c + cross(u, c);
}

// The rotation from a to b in the frame of a, as axis times angle.
inline V3 rotation_between(Q a, Q b) {
    Q d = Q{a.w, -a.x, -a.y, -a.z} * b;
    if (d.w < 0) d = {-d.w, -d.x, -d.y, -d.z};
    const V3 v{d.x, d.y, d.z};
    const double sine = std::sqrt(dot(v, v));
    return (sine > 1e-12 ? 2 * std::atan2(sine, d.w) / sine : 2.0) * v;
}

// q * exp(rotation_vector), normalised.
inline Q rotate_by(Q q, V3 rotation_vector) {
    const double angle = std::sqrt(dot(rotation_vector, rotation_vector)), factor = angle > 1e-12 ? std::sin(angle / 2) / angle : 0.5;
    const Q r = q * Q{std::cos(angle / 2), factor * rotation_vector.x, factor * rotation_vector.y, factor * rotation_vector.z};
    const double scale = 1 / std::sqrt(r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z);
    return {scale * r.w, scale * r.x, scale * r.y, scale * r.z};
}

}  // namespace keypose
