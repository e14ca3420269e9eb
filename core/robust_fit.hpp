// Least-squares weights of predictors, and the cost of their prediction errors in bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// Least-squares weights of the first `count` columns of `features` (rows x columns, row-major) for `target`, for each
// of the counts, concatenated; by Householder reflections. A column that depends on those before it gets the weight 0.
std::vector<double> nested_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                const std::vector<std::size_t>& counts);

// The same, refitted with smaller weights for rows with large errors, as a large error costs few bits more than a small
// one.
std::vector<double> robust_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                  const std::vector<std::size_t>& counts);

// The approximate size of prediction errors in bits, with the spread estimated from the few errors before each. The
// first errors of groups, where `first` is not 0, share one spread.
double error_bits(const std::int64_t* errors, const std::uint8_t* first, std::size_t count);

}  // namespace keypose
