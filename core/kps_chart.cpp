#include "kps_chart.hpp"

namespace keypose::kps {
namespace {

struct SineCosine {
    double sine, cosine;
};

// Returns sine and cosine from their Taylor series about the nearest quarter turn, with errors of a few parts in 10^16.
// The result is identical on every machine.
SineCosine sine_cosine(double angle) {
    constexpr double kTwoOverPi = 0.6366197723675814, kHigh = 1.5707963267341256, kLow = 6.077100506506192e-11;
    const double quarters = std::nearbyint(angle * kTwoOverPi);
    const double x = (angle - quarters * kHigh) - quarters * kLow, y = x * x;
    double sine = 0, cosine = 0;
    constexpr double kSine[] = {-7.647163731819816e-13, 1.6059043836821613e-10, -2.505210838544172e-08, 2.7557319223985893e-06,
                                -1.984126984126984e-04, 8.333333333333333e-03, -1.6666666666666666e-01, 1.0};
    constexpr double kCosine[] = {4.779477332387385e-14, -1.1470745597729725e-11, 2.08767569878681e-09, -2.755731922398589e-07,
                                  2.48015873015873e-05, -1.388888888888889e-03, 4.1666666666666664e-02, -0.5, 1.0};
    for (const double factor : kSine) sine = sine * y + factor;
    for (const double factor : kCosine) cosine = cosine * y + factor;
    sine = sine * x;
    switch (std::abs(quarters) < 1e15 ? static_cast<long long>(quarters) & 3 : 0) {
        case 0: return {sine, cosine};
        case 1: return {cosine, -sine};
        case 2: return {-sine, -cosine};
        default: return {-cosine, sine};
    }
}

Q unit(Q q) {
    const double scale = 1 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return {scale * q.w, scale * q.x, scale * q.y, scale * q.z};
}

Q conjugate(Q q) { return {q.w, -q.x, -q.y, -q.z}; }

// Returns v such that exp(x + d) = exp(x) * exp(v) for a small d.
V3 exp_derivative(V3 x, V3 d) {
    const double square = dot(x, x), angle = std::sqrt(square);
    const double a = angle > 1e-4 ? (1 - std::cos(angle)) / square : 0.5 - square / 24;
    const double b = angle > 1e-4 ? (angle - std::sin(angle)) / (square * angle) : 1.0 / 6;
    const V3 c = cross(x, d);
    return d - a * c + b * cross(x, c);
}

V3 tilt(const Chart& chart, const double* n) { return n[1] * chart.second + n[2] * chart.third; }
V3 rotation_vector(const Chart& chart, const double* n) { return n[0] * chart.first + tilt(chart, n); }

}  // namespace

Q rotation_of(V3 vector) {
    const double angle = std::sqrt(dot(vector, vector));
    const SineCosine half = sine_cosine(0.5 * angle);
    const double factor = angle > 1e-9 ? half.sine / angle : 0.5;
    return {half.cosine, factor * vector.x, factor * vector.y, factor * vector.z};
}

Q rotation_at(const Chart& chart, const double* n) {
    switch (chart.kind) {
        case Kind::fixed: return chart.base;
        case Kind::hinge: return unit(chart.base * rotation_of(n[0] * chart.second));
        case Kind::pair: return unit(rotation_of(n[0] * chart.first) * chart.base * rotation_of(n[1] * chart.second));
        case Kind::free: return unit(chart.base * rotation_of(rotation_vector(chart, n)));
        default: return unit(rotation_of(n[0] * chart.first) * rotation_of(tilt(chart, n)));
    }
}

V3 derivative(const Chart& chart, const double* n, int index) {
    const V3 axis = index == 0 ? chart.first : index == 1 ? chart.second : chart.third;
    switch (chart.kind) {
        case Kind::fixed: return {};
        case Kind::hinge: return chart.second;
        case Kind::pair:
            return index == 1 ? chart.second : rotate(conjugate(chart.base * rotation_of(n[1] * chart.second)), chart.first);
        case Kind::free: return exp_derivative(rotation_vector(chart, n), axis);
        default: return index > 0 ? exp_derivative(tilt(chart, n), axis) : rotate(conjugate(rotation_of(tilt(chart, n))), chart.first);
    }
}

}  // namespace keypose::kps
