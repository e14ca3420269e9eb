#include "fitting.hpp"

#include <algorithm>
#include <cmath>

namespace keypose {
namespace {

constexpr double kDependent = 1e-11;  // of a column's length: less is what rounding leaves of one told by the others

double dot(const double* a, const double* b, std::size_t from, std::size_t rows) {
    double sum = 0;
    for (std::size_t r = from; r < rows; ++r) sum += a[r] * b[r];
    return sum;
}

}  // namespace

std::vector<double> nested_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                const std::vector<std::size_t>& counts) {
    std::vector<double> a(rows * columns), y(target, target + rows), lengths(columns);
    for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t r = 0; r < rows; ++r) a[c * rows + r] = features[r * columns + c];
        lengths[c] = std::sqrt(dot(a.data() + c * rows, a.data() + c * rows, 0, rows));
    }
    std::vector<double> diagonal(columns, 0.0);
    std::vector<std::size_t> place(columns, rows);  // the row of a column in the triangle; `rows`: it has none
    std::size_t row = 0;
    for (std::size_t c = 0; c < columns && row < rows; ++c) {
        double* v = a.data() + c * rows;
        const double length = std::sqrt(dot(v, v, row, rows));
        if (!(length > kDependent * lengths[c])) continue;
        const double head = v[row] > 0 ? -length : length;
        v[row] -= head;
        const double scale = 2 / dot(v, v, row, rows);
        const auto reflect = [&](double* x) {
            const double along = scale * dot(v, x, row, rows);
            for (std::size_t r = row; r < rows; ++r) x[r] -= along * v[r];
        };
        for (std::size_t k = c + 1; k < columns; ++k) reflect(a.data() + k * rows);
        reflect(y.data());
        diagonal[c] = head;
        place[c] = row++;
    }
    std::vector<double> weights;
    for (const std::size_t count : counts) {
        std::vector<double> w(count, 0.0);
        for (std::size_t c = std::min(count, columns); c-- > 0;) {
            if (place[c] == rows) continue;
            double rest = y[place[c]];
            for (std::size_t k = c + 1; k < count; ++k) rest -= a[k * rows + place[c]] * w[k];
            w[c] = rest / diagonal[c];
        }
        weights.insert(weights.end(), w.begin(), w.end());
    }
    return weights;
}

std::vector<double> trusting_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                  const std::vector<std::size_t>& counts) {
    if (!rows || counts.empty()) return nested_fits(features, target, rows, columns, counts);
    const std::vector<double> first = nested_fits(features, target, rows, columns, {counts.back()});
    std::vector<double> off(rows), scaled(rows * columns), wanted(rows);
    double greatest = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        double rest = target[r];
        for (std::size_t c = 0; c < first.size(); ++c) rest -= features[r * columns + c] * first[c];
        off[r] = std::abs(rest);
        greatest = std::max(greatest, std::abs(target[r]));
    }
    std::vector<double> sorted = off;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(rows / 2), sorted.end());
    const double usual = sorted[rows / 2] + 1e-6 * greatest + 1e-300;
    for (std::size_t r = 0; r < rows; ++r) {
        const double trust = 1 / std::sqrt(off[r] + usual);
        for (std::size_t c = 0; c < columns; ++c) scaled[r * columns + c] = trust * features[r * columns + c];
        wanted[r] = trust * target[r];
    }
    return nested_fits(scaled.data(), wanted.data(), rows, columns, counts);
}

double miss_bits(const std::int64_t* misses, const std::uint8_t* first, std::size_t count) {
    constexpr std::size_t near = 6;  // frames before, whose misses tell how large the next one will be
    constexpr double least = 0.05;
    const auto size = [&](std::size_t i) { return std::abs(static_cast<double>(misses[i])); };
    double firsts = 0, n_firsts = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (first[i]) firsts += size(i), ++n_firsts;
    double latest[near] = {}, bits = 0;
    for (std::size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (const double x : latest) sum += x;
        const double seen = static_cast<double>(std::clamp<std::size_t>(i, 1, near));
        const double spread = (first[i] ? firsts / n_firsts : sum / seen) + least;
        bits += std::log2(1 + 2 * spread) + 2 * std::log2(1 + size(i) / (2 * spread + 0.5));
        latest[i % near] = first[i] ? 0 : size(i);
    }
    return bits;
}

}  // namespace keypose
