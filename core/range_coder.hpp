// A binary range coder and its adaptive models. All arithmetic is in integers, so the bytes are the same on every
// machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace keypose {

// The adaptive probability that a bit is 1. It adapts fast at first, then more slowly.
struct BitModel {
    std::uint16_t one = 1 << 15;  // in units of 2^-16
    std::uint16_t n_seen = 0;     // number of bits learnt from, up to `limit`

    static constexpr int kMinProbability = 32;  // of 0 and of 1, in units of 2^-16

    std::uint32_t probability() const { return one; }

    void learn(bool bit, int limit) {
        static constexpr std::uint32_t kReciprocal[33] = {
            32768, 26214, 21845, 18725, 16384, 13107, 10923, 9362, 8192, 7282, 6554, 5958, 5461, 5041, 4681, 4369, 4096,
            3855, 3641, 3449, 3277, 3121, 2979, 2849, 2731, 2621, 2521, 2427, 2341, 2260, 2185, 2114, 2048};
        const std::int32_t target = bit ? (1 << 16) - kMinProbability : kMinProbability;
        const std::int32_t difference = target - static_cast<std::int32_t>(one);
        const std::int64_t step = static_cast<std::int64_t>(difference) * kReciprocal[n_seen];
        one = static_cast<std::uint16_t>(static_cast<std::int32_t>(one) + static_cast<std::int32_t>(step / (1 << 16)));
        if (n_seen < limit) ++n_seen;
    }
};

class RangeEncoder {
public:
    // `one`: the probability that the bit is 1, in units of 2^-16, from 1 to 2^16 - 1.
    void encode(bool bit, std::uint32_t one) {
        const std::uint32_t middle = low_ + static_cast<std::uint32_t>((static_cast<std::uint64_t>(high_ - low_) * one) >> 16);
        if (bit) high_ = middle;
        else low_ = middle + 1;
        while (((low_ ^ high_) & 0xff000000u) == 0) {
            bytes_.push_back(static_cast<std::uint8_t>(high_ >> 24));
            low_ <<= 8;
            high_ = (high_ << 8) | 0xffu;
        }
    }

    void encode(bool bit, BitModel& model, int limit) {
        encode(bit, model.probability());
        model.learn(bit, limit);
    }

    // Returns the bytes, with as few final bytes as possible: a reader reads zeros instead of up to four missing bytes.
    std::vector<std::uint8_t> finish() {
        const std::size_t full_size = bytes_.size();
        for (int n_final_bytes = 0; n_final_bytes <= 4; ++n_final_bytes) {
            const std::uint64_t unit = 1ull << (32 - 8 * n_final_bytes);
            const std::uint64_t value = (low_ + unit - 1) / unit * unit;
            if (value > high_) continue;
            for (int k = 0; k < n_final_bytes; ++k) bytes_.push_back(static_cast<std::uint8_t>(value >> (24 - 8 * k)));
            break;
        }
        while (bytes_.size() > full_size && bytes_.back() == 0) bytes_.pop_back();
        return std::move(bytes_);
    }

private:
    std::uint32_t low_ = 0, high_ = 0xffffffffu;
    std::vector<std::uint8_t> bytes_;
};

class RangeDecoder {
public:
    RangeDecoder(const std::uint8_t* bytes, std::size_t count) : at_(bytes), end_(bytes + count) {
        for (int k = 0; k < 4; ++k) value_ = (value_ << 8) | next();
    }

    bool decode(std::uint32_t one) {
        const std::uint32_t middle = low_ + static_cast<std::uint32_t>((static_cast<std::uint64_t>(high_ - low_) * one) >> 16);
        const bool bit = value_ <= middle;
        if (bit) high_ = middle;
        else low_ = middle + 1;
        while (((low_ ^ high_) & 0xff000000u) == 0) {
            low_ <<= 8;
            high_ = (high_ << 8) | 0xffu;
            value_ = (value_ << 8) | next();
        }
        return bit;
    }

    bool decode(BitModel& model, int limit) {
        const bool bit = decode(model.probability());
        model.learn(bit, limit);
        return bit;
    }

    // The number of bytes read beyond the end; with more than four, the data is invalid.
    std::size_t n_beyond() const { return n_beyond_; }

private:
    std::uint32_t next() {
        if (at_ < end_) return *at_++;
        ++n_beyond_;
        return 0;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    std::size_t n_beyond_ = 0;
    std::uint32_t low_ = 0, high_ = 0xffffffffu, value_ = 0;
};

}  // namespace keypose
