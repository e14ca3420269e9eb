// What the fitting of predictors needs: weights, and what misses cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// The weights with which the first `count` of `columns` columns (rows x columns, row after row) come nearest to `target`,
// for each of the given counts, one after another: least squares by Householder's reflections. A column that those
// before it tell already gets the weight 0.
std::vector<double> nested_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                const std::vector<std::size_t>& counts);

// The same, fitted again with less trust in rows that were far off: a large miss costs few bits more than a small one.
std::vector<double> trusting_fits(const double* features, const double* target, std::size_t rows, std::size_t columns,
                                  const std::vector<std::size_t>& counts);

// About how many bits misses take: as numbers whose spread is that of the few before them. The first of each group,
// where `first` is not 0, are taken together.
double miss_bits(const std::int64_t* misses, const std::uint8_t* first, std::size_t count);

}  // namespace keypose
