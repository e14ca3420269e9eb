#include "robust_fit.hpp"

#include <algorithm>
#include <cmath>

namespace keypose {
namespace {

constexpr double kDependent = 1e-11;  // relative to a column's length: below it, the column depends on the others up to rounding

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
    std::vector<std::size_t> row_of(columns, rows);  // the row of a column in the triangular factor; `rows`: none
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
        row_of[c] = row++;
    }
    std::vector<double> weights;
    for (const std::size_t count : counts) {
        std::vector<double> w(count, 0.0);
        for (std::size_t c = std::min(count, columns); c-- > 0;) {
            if (row_of[c] == rows) continue;
            double rest = y[row_of[c]];
            for (std::size_t k = c + 1; k < count; ++k) rest -= a[k * rows + row_of[c]] * w[k];
            w[c] = rest / diagonal[c];
        }
        weights.insert(weights.end(), w.begin(), w.end());
    }
    return weights;
}

std::vector<double> robust_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                  const std::vector<std::size_t>& counts) {
    if (!rows || counts.empty()) return nested_fits(features, target, rows, columns, counts);
    const std::vector<double> first = nested_fits(features, target, rows, columns, {counts.back()});
    std::vector<double> errors(rows), weighted_features(rows * columns), weighted_target(rows);
    double max_target = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        double error = target[r];
        for (std::size_t c = 0; c < first.size(); ++c) error -= features[r * columns + c] * first[c];
        errors[r] = std::abs(error);
        max_target = std::max(max_target, std::abs(target[r]));
    }
    std::vector<double> sorted = errors;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(rows / 2), sorted.end());
    const double typical = sorted[rows / 2] + 1e-6 * max_target + 1e-300;
    for (std::size_t r = 0; r < rows; ++r) {
        const double weight = 1 / std::sqrt(errors[r] + typical);
        for (std::size_t c = 0; c < columns; ++c) weighted_features[r * columns + c] = weight * features[r * columns + c];
        weighted_target[r] = weight * target[r];
    }
    return nested_fits(weighted_features.data(), weighted_target.data(), rows, columns, counts);
}

double error_bits(const std::int64_t* errors, const std::uint8_t* first, std::size_t count) {
    constexpr std::size_t window = 6;  // preceding frames whose errors predict the size of the next one
    constexpr double min_spread = 0.05;
    const auto size = [&](std::size_t i) { return std::abs(static_cast<double>(errors[i])); };
    double firsts = 0, n_firsts = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (first[i]) firsts += size(i), ++n_firsts;
    double latest[window] = {}, bits = 0;
    for (std::size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (const double x : latest) sum += x;
        const double n_latest = static_cast<double>(std::clamp<std::size_t>(i, 1, window));
        const double spread = (first[i] ? firsts / n_firsts : sum / n_latest) + min_spread;
        bits += std::log2(1 + 2 * spread) + 2 * std::log2(1 + size(i) / (2 * spread + 0.5));
        latest[i % window] = first[i] ? 0 : size(i);
    }
    return bits;
}

}  // namespace keypose
