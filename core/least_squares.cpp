#include "least_squares.hpp"

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
        lengths[c] = std::sqrt(dot(&a[c * rows], &a[c * rows], 0, rows));
    }
    std::vector<double> diagonal(columns, 0.0);
    std::vector<std::size_t> place(columns, rows);  // the row of a column in the triangle; `rows`: it has none
    std::size_t row = 0;
    for (std::size_t c = 0; c < columns && row < rows; ++c) {
        double* v = &a[c * rows];
        const double length = std::sqrt(dot(v, v, row, rows));
        if (!(length > kDependent * lengths[c])) continue;
        const double head = v[row] > 0 ? -length : length;
        v[row] -= head;
        const double scale = 2 / dot(v, v, row, rows);
        const auto reflect = [&](double* x) {
            const double along = scale * dot(v, x, row, rows);
            for (std::size_t r = row; r < rows; ++r) x[r] -= along * v[r];
        };
        for (std::size_t k = c + 1; k < columns; ++k) reflect(&a[k * rows]);
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

}  // namespace keypose
