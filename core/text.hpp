// Parses and formats rows of decimal numbers as in BVH, AMC and C3D text exports.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace keypose {

enum class RowFault { none, not_a_number, not_finite, wrong_count };

struct Rows {
    std::vector<double> values;  // row-major, `columns` per row
    std::size_t rows = 0;
    std::size_t glued = 0;         // numbers whose minus sign follows the previous number without a blank
    std::size_t truncated = 0;     // numbers in an incomplete last row, which is dropped
    RowFault fault = RowFault::none;
    std::size_t line = 0;    // of the fault, 0-based from the start of the text
    std::size_t column = 0;  // of the fault within its row; for wrong_count: the number of values
    std::size_t byte = 0;    // of the fault
};

// Reads one row of `columns` numbers per line until `end`; blank lines are skipped.
Rows parse_rows(const char* begin, const char* end, std::size_t columns, std::size_t expected_rows,
                std::size_t max_rows);

// Writes rows with a fixed number of decimals (at most 17), single blanks, a newline after each.
std::string format_rows(const double* values, std::size_t rows, std::size_t columns, int decimals);

}  // namespace keypose
