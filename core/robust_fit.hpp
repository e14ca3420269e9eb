// Least-squares weights of linear predictors, and the size of their prediction errors in bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// Returns the least-squares weights of the first `count` columns of `features` (rows x columns, row-major) for
// `target`, for each of the counts, concatenated; by Householder reflections. A column that depends on those before it
// gets the weight 0.
std::vector<double> nested_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                const std::vector<std::size_t>& counts);

// Returns weights as nested_fits, fitted a second time with less weight for rows with large errors: a large error needs
// only few bits more than a small one.
std::vector<double> robust_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                const std::vector<std::size_t>& counts);

// Returns the approximate size of prediction errors in bits, with the spread of each estimated from the few errors
// before it. The first errors of groups, where `first` is not 0, have one common spread.
double error_bits(const std::int64_t* errors, const std::uint8_t* first, std::size_t count);

}  // namespace keypose
