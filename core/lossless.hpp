// Lossless coding of integer columns with linear prediction; docs/kps-lossless.md specifies every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// How one column is predicted from earlier columns and from its own earlier frames. All sums wrap around at 2^64.
struct LosslessColumn {
    struct Helper {
        std::size_t column;   // an earlier column, whose error in the same frame is correlated with that of this one
        std::int64_t weight;  // in units of 2^-shift
    };

    int first_size = 0, size = 0;     // expected sizes of the errors in the first frame and later, as 4 log2
    std::int64_t middle = 0;          // centre of the numbers
    int extent = 0;                   // the numbers differ from middle by less than 2^extent
    std::int64_t wrap = 0;            // for angles within half a turn: the number that is a full turn; 0: no angle
    int digits = 0;                   // significant decimal digits of the numbers; 0: not limited
    std::vector<std::size_t> inputs;  // up to two columns that the polynomial depends on
    int degree = 0;
    std::vector<std::int64_t> coefficients;  // of the polynomial, in units of 1/16
    int lags = 0;                     // number of previous frames from which it is predicted
    int shift = 0;                    // of the weights
    std::vector<std::int64_t> weights;  // of the previous changes, the latest first, in units of 2^-shift
    std::vector<Helper> helpers;
};

// Parses a plan: the fields above of one column after another. The number of entries precedes a list; other columns are
// given by how many columns before this one they are. Throws CodingError.
std::vector<LosslessColumn> lossless_columns(const std::int64_t* plan, std::size_t count);

// Encodes the numbers `values` (columns, frames).
std::vector<std::uint8_t> lossless_encode(const std::vector<LosslessColumn>& columns, const std::int64_t* values,
                                          std::size_t frames);

// Decodes numbers (columns, frames). Throws CodingError, before allocation if the bytes are too few for so many
// numbers.
std::vector<std::int64_t> lossless_decode(const std::vector<LosslessColumn>& columns, const std::uint8_t* bytes,
                                          std::size_t count, std::size_t frames);

}  // namespace keypose
