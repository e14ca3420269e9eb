#include "channel_text.hpp"

#include <charconv>

namespace keypose {

std::string format_columns(const double* values, std::size_t rows, std::size_t columns, const std::int32_t* decimals) {
    std::string out;
    char number[512];  // 309 digits before the point, up to 100 after it
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
            const double value = values[r * columns + c];
            const auto written =
                decimals[c] < 0 ? std::to_chars(number, number + sizeof number, value)
                                : std::to_chars(number, number + sizeof number, value, std::chars_format::fixed, decimals[c]);
            if (c) out.push_back(' ');
            out.append(number, written.ptr);
        }
        out.push_back('\n');
    }
    return out;
}

}  // namespace keypose
