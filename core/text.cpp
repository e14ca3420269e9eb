#include "text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace keypose {
namespace {

constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t exact_mantissa = std::uint64_t{1} << 53;

bool is_digit(char c) { return static_cast<unsigned>(c - '0') < 10u; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// Parses a decimal with a mantissa below 2^53 and at most 22 decimals by one exact division (Clinger's fast path); the
// result is the nearest double, as that of from_chars. Returns null for other numbers.
const char* parse_short_decimal(const char* p, const char* end, double& value) {
    const bool negative = *p == '-';
    p += negative;
    const char* first = p;
    std::uint64_t mantissa = 0;
    while (p < end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<unsigned>(*p++ - '0');
    std::size_t digits = static_cast<std::size_t>(p - first);
    std::size_t decimals = 0;
    if (p < end && *p == '.') {
        const char* fraction = ++p;
        while (p < end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<unsigned>(*p++ - '0');
        decimals = static_cast<std::size_t>(p - fraction);
        digits += decimals;
    }
    if (digits == 0 || digits > 18 || mantissa > exact_mantissa) return nullptr;
    if (p < end && (*p == 'e' || *p == 'E')) return nullptr;
    const double magnitude = static_cast<double>(mantissa) / powers_of_ten[decimals];
    value = negative ? -magnitude : magnitude;
    return p;
}

// Returns for a number outside the range of doubles whether it is too small, from the exponent of its first nonzero
// digit.
bool is_below_one(const char* p, const char* end) {
    const char* exponent = std::find_if(p, end, [](char c) { return c == 'e' || c == 'E'; });
    const char* point = std::find(p, exponent, '.');
    const char* leading = std::find_if(p, exponent, [](char c) { return c >= '1' && c <= '9'; });
    const long long exponent_of_ten = leading < point ? point - leading : point + 1 - leading;
    long long shift = 0;
    const bool negative = exponent + 1 < end && exponent[1] == '-';
    for (const char* q = exponent; q < end; ++q)
        if (is_digit(*q) && shift < (1LL << 50)) shift = shift * 10 + (*q - '0');
    return exponent_of_ten + (negative ? -shift : shift) <= 0;
}

const char* parse_number(const char* p, const char* end, double& value) {
    if (*p == '+') {
        ++p;
        if (p == end || *p == '-') return nullptr;
    }
    if (const char* after = parse_short_decimal(p, end, value)) return after;
    const auto [after, error] = std::from_chars(p, end, value);
    if (error == std::errc::result_out_of_range) {  // a number that is too small becomes 0, one that is too large infinite
        value = is_below_one(p, after) ? 0.0 : HUGE_VAL;
        return after;
    }
    return error == std::errc() ? after : nullptr;
}

}  // namespace

Rows parse_rows(const char* begin, const char* end, std::size_t columns, std::size_t expected_rows,
                std::size_t max_rows) {
    Rows out;
    const std::size_t numbers = static_cast<std::size_t>(end - begin) / 2 + 1;  // at most as many as characters and blanks
    const std::size_t rows = std::min({expected_rows, numbers / columns + 1, max_rows});
    out.values.reserve(std::min(rows * columns, numbers));
    const char* p = begin;
    std::size_t line = 0;
    const auto fail = [&](RowFault fault, std::size_t column, const char* at) {
        out.fault = fault;
        out.line = line;
        out.column = column;
        out.byte = static_cast<std::size_t>(at - begin);
        return out;
    };
    while (p < end && out.rows < max_rows) {
        const std::size_t row_start = out.values.size();
        const char* line_start = p;
        std::size_t count = 0;
        while (true) {
            while (p < end && is_blank(*p)) ++p;
            if (p == end || is_line_end(*p)) break;
            double value;
            const char* after = parse_number(p, end, value);
            if (!after) return fail(RowFault::not_a_number, count, p);
            if (!std::isfinite(value)) return fail(RowFault::not_finite, count, p);
            if (after < end && !is_blank(*after) && !is_line_end(*after)) {
                if (*after != '-') return fail(RowFault::not_a_number, count, p);
                ++out.glued;
            }
            if (count < columns) out.values.push_back(value);
            ++count;
            p = after;
        }
        if (count != 0 && count != columns) {
            const char* rest = p;
            while (rest < end && (is_blank(*rest) || is_line_end(*rest))) ++rest;
            out.values.resize(row_start);
            if (rest != end || count > columns) return fail(RowFault::wrong_count, count, line_start);
            out.truncated = count;
        } else if (count) {
            ++out.rows;
        }
        if (p < end && *p == '\r') ++p;
        if (p < end && *p == '\n') ++p;
        ++line;
    }
    return out;
}

std::string format_rows(const double* values, std::size_t rows, std::size_t columns, int decimals) {
    std::string out;
    out.reserve(rows * columns * static_cast<std::size_t>(decimals + 5));
    char number[512];  // 309 digits before the point, 17 after it
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
            const auto [after, error] = std::to_chars(number, number + sizeof number, values[r * columns + c],
                                                      std::chars_format::fixed, decimals);
            (void)error;
            const char* first = number;
            if (*first == '-') {  // no "-0.000000"
                const bool zero = std::all_of(first + 1, static_cast<const char*>(after),
                                              [](char d) { return d == '0' || d == '.'; });
                first += zero;
            }
            if (c) out.push_back(' ');
            out.append(first, static_cast<const char*>(after));
        }
        out.push_back('\n');
    }
    return out;
}

}  // namespace keypose
