// Columns of whole numbers, foretold and coded without loss; docs/kps-lossless.md tells it byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// How one column is foretold from the columns before it and from its own past. All sums wrap around at 2^64.
struct LosslessColumn {
    struct Helper {
        std::size_t column;   // one before, whose miss in the same frame tells something of this one's
        std::int64_t weight;  // in parts of 2^shift
    };

    int first_size = 0, size = 0;     // how large the misses are, in the first frame and later, in quarters of octaves
    std::int64_t middle = 0;          // about which the numbers lie,
    int extent = 0;                   // less than 2^extent off
    std::int64_t wrap = 0;            // a full turn of an angle that stays within half of one; 0: no such
    int digits = 0;                   // that matter in a number, those after them are 0; 0: all of them
    std::vector<std::size_t> inputs;  // columns of which the chart is a polynomial, none to two
    int degree = 0;
    std::vector<std::int64_t> chart;  // its coefficients, in parts of 16
    int lags = 0;                     // frames before that count: none, the last, or with weights more
    int shift = 0;
    std::vector<std::int64_t> weights;  // of the steps before, the latest first, in parts of 2^shift
    std::vector<Helper> helpers;
};

// The columns of a plan, the fields above of one after another, counts before lists and other columns by how far back
// they are; throws CodingFault.
std::vector<LosslessColumn> lossless_columns(const std::int64_t* plan, std::size_t count);

// The bytes of `frames` numbers of each column, `values` column after column.
std::vector<std::uint8_t> lossless_encode(const std::vector<LosslessColumn>& columns, const std::int64_t* values,
                                          std::size_t frames);

// The numbers again; throws CodingFault. Before it takes memory, refuses more numbers than so few bytes can hold.
std::vector<std::int64_t> lossless_decode(const std::vector<LosslessColumn>& columns, const std::uint8_t* bytes,
                                          std::size_t count, std::size_t frames);

}  // namespace keypose
