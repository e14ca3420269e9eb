// Formats columns of numbers as text that parses back to the same doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace keypose {

// Rows with single blanks and a newline after each. `decimals` has the number of decimals of each column; if negative,
// the shortest text that parses back is written. The sign of a negative zero is written.
std::string format_columns(const double* values, std::size_t rows, std::size_t columns, const std::int32_t* decimals);

}  // namespace keypose
