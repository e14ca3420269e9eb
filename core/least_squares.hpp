// Least squares by Householder's reflections, for a few columns: no threads, no library.
#pragma once

#include <cstddef>
#include <vector>

namespace keypose {

// The weights with which the first `count` of `columns` columns (rows x columns, row after row) come nearest to `target`,
// for each of the given counts, one after another. A column that those before it tell already gets the weight 0.
std::vector<double> nested_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                const std::vector<std::size_t>& counts);

}  // namespace keypose
