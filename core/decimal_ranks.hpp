// Ranks of decimal numbers with few significant digits: consecutive integers in the order of the numbers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "integer_coder.hpp"

namespace keypose {

// Converts integers with at most `digits` significant decimal digits to ranks and back. The rank of 0 is 0, negative
// numbers have negative ranks. 0 digits: every integer is its own rank.
class DecimalRanks {
public:
    explicit DecimalRanks(int digits) {
        for (int i = 0; i < digits; ++i) base_ = (base_ ? base_ : 1) * 10;
    }

    // The rank of the number, rounded towards 0 to a number that has a rank.
    std::int64_t rank(std::int64_t number) const {
        if (!base_) return number;
        const std::int64_t clamped = std::clamp<std::int64_t>(number, -kMaxNumber, kMaxNumber);
        std::int64_t size = clamped < 0 ? -clamped : clamped, low = base_, below = 0;
        if (size >= base_) {
            for (std::int64_t step = 10;; step *= 10) {
                if (size / step < base_) {
                    size = below + base_ + (size - low) / step;
                    break;
                }
                below += base_ - base_ / 10, low *= 10;
            }
        }
        return clamped < 0 ? -size : size;
    }

    std::int64_t number(std::int64_t rank) const {
        if (!base_) return rank;
        if (rank == INT64_MIN) throw CodingError("a number is out of range");
        const std::int64_t size = rank < 0 ? -rank : rank;
        if (size < base_) return rank;
        const std::int64_t decade = base_ - base_ / 10;
        std::int64_t above = (size - base_) / decade, low = base_, step = 10;
        for (; above > 0; --above, low *= 10, step *= 10)
            if (low > kMaxNumber / 10) throw CodingError("a number is out of range");
        const std::int64_t number = low + (size - base_) % decade * step;
        return rank < 0 ? -number : number;
    }

private:
    static constexpr std::int64_t kMaxNumber = std::int64_t{1} << 56;
    std::int64_t base_ = 0;  // 10^digits; 0: all integers
};

}  // namespace keypose
