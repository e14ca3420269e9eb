// Decimal numbers of a few digits, counted through.
#pragma once

#include <algorithm>
#include <cstdint>

#include "whole_numbers.hpp"

namespace keypose {

// Numbers of which only the first few digits are not 0, counted through from 0 in both directions.
class Ladder {
public:
    explicit Ladder(int digits) {
        for (int i = 0; i < digits; ++i) base_ = (base_ ? base_ : 1) * 10;
    }

    std::int64_t rung(std::int64_t number) const {
        if (!base_) return number;
        const std::int64_t sound = std::clamp<std::int64_t>(number, -kGreatest, kGreatest);
        std::int64_t size = sound < 0 ? -sound : sound, low = base_, below = 0;
        if (size >= base_) {
            for (std::int64_t step = 10;; step *= 10) {
                if (size / step < base_) {
                    size = below + base_ + (size - low) / step;
                    break;
                }
                below += base_ - base_ / 10, low *= 10;
            }
        }
        return sound < 0 ? -size : size;
    }

    std::int64_t number(std::int64_t rung) const {
        if (!base_) return rung;
        if (rung == INT64_MIN) throw CodingFault("a number beyond all measure");
        const std::int64_t size = rung < 0 ? -rung : rung;
        if (size < base_) return rung;
        const std::int64_t decade = base_ - base_ / 10;
        std::int64_t above = (size - base_) / decade, low = base_, step = 10;
        for (; above > 0; --above, low *= 10, step *= 10)
            if (low > kGreatest / 10) throw CodingFault("a number beyond all measure");
        const std::int64_t number = low + (size - base_) % decade * step;
        return rung < 0 ? -number : number;
    }

private:
    static constexpr std::int64_t kGreatest = std::int64_t{1} << 56;
    std::int64_t base_ = 0;
};

}  // namespace keypose
