// Lossless coding of integer columns with linear prediction; docs/kps-lossless.md specifies every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// How one column is predicted from earlier columns and from its own past. All sums wrap around at 2^64.
struct LosslessColumn {
    struct Helper {
        std::size_t column;   // an earlier one, whose error in the same frame correlates with this one's
        std::int64_t weight;  // in units of 2^-shift
    };

    int first_size = 0, size = 0;     // error sizes in the first frame and later, as 4 log2
    std::int64_t middle = 0;          // centre of the numbers
    int extent = 0;                   // the numbers differ from middle by less than 2^extent
    std::int64_t wrap = 0;            // a full turn, for an angle within half a turn; 0: no wrapping
    int digits = 0;                   // significant digits, those after them are 0; 0: all digits
    std::vector<std::size_t> inputs;  // columns that the polynomial depends on, up to two
    int degree = 0;
    std::vector<std::int64_t> coefficients;  // of the polynomial, in units of 1/16
    int lags = 0;                     // number of previous frames that are used
    int shift = 0;
    std::vector<std::int64_t> weights;  // of the previous steps, the latest first, in units of 2^-shift
    std::vector<Helper> helpers;
};

// Parses a plan: the fields above of one column after another, counts before lists, and other columns by their distance
// back. Throws CodingError.
std::vector<LosslessColumn> lossless_columns(const std::int64_t* plan, std::size_t count);

// Encodes `frames` numbers of each column; `values` has one column after another.
std::vector<std::uint8_t> lossless_encode(const std::vector<LosslessColumn>& columns, const std::int64_t* values,
                                          std::size_t frames);

// Decodes the numbers; throws CodingError. Rejects more numbers than the bytes can hold before allocation.
std::vector<std::int64_t> lossless_decode(const std::vector<LosslessColumn>& columns, const std::uint8_t* bytes,
                                          std::size_t count, std::size_t frames);

}  // namespace keypose
