// Numbers of columns as text that gives back the very same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace keypose {

// Rows with single blanks, a newline after each; of each column so many decimals, or where those are below 0 as few
// digits as tell the number from all others. The sign of a negative zero stays.
std::string format_columns(const double* values, std::size_t rows, std::size_t columns, const std::int32_t* decimals);

}  // namespace keypose
