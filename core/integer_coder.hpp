// Range coding of 64-bit integers: the number of binary digits and the two digits after the first are coded with
// adaptive models, the remaining digits are written uncoded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "range_coder.hpp"

namespace keypose {

// Invalid coded bytes.
struct CodingError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline int bit_length(std::uint64_t number) {
    int length = 0;
    for (int step = 32; step; step >>= 1)
        if (number >> step) number >>= step, length += step;
    return length + static_cast<int>(number);
}

inline std::uint64_t magnitude(std::int64_t number) {
    return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

// The adaptive model of numbers of one kind.
struct NumberModel {
    static constexpr int kLimit = 28;  // maximum count of the bit models
    static constexpr int kLengths = 16, kHeads = 8;

    BitModel longer[kLengths];     // by i: whether the number has more than i binary digits
    BitModel second[kHeads];       // its second digit, by its length
    BitModel third[kHeads][2];     // its third digit, by its length and second digit
    BitModel negative[3];          // its sign, by that of the previous number: zero, positive, negative

    static int sign_of(std::int64_t number) { return number > 0 ? 1 : number < 0 ? 2 : 0; }
};

class NumberWriter {
public:
    // Writes a number, the lowest `low` binary digits of its magnitude uncoded; `previous` is the context of its sign.
    void write(NumberModel& model, std::int64_t number, int low, std::int64_t previous) {
        const std::uint64_t size = magnitude(number), high = size >> low;
        const int length = bit_length(high);
        for (int i = 0; i < length; ++i) bit(true, model.longer[std::min(i, NumberModel::kLengths - 1)]);
        if (length + low < 64) bit(false, model.longer[std::min(length, NumberModel::kLengths - 1)]);
        const int head = std::min(length, NumberModel::kHeads - 1);
        if (length >= 2) bit(high >> (length - 2) & 1, model.second[head]);
        if (length >= 3) bit(high >> (length - 3) & 1, model.third[head][high >> (length - 2) & 1]);
        write_uncoded(size, std::max(length - 3, 0) + low);
        if (size) bit(number < 0, model.negative[NumberModel::sign_of(previous)]);
    }

    // Returns the bytes. Without the final 0 bit they could end in zero bytes, which the coder drops; with it, a reader
    // detects missing bytes by the number of bytes that it reads beyond the end.
    std::vector<std::uint8_t> finish() {
        coder_.encode(false, 1u << 15);
        return coder_.finish();
    }

private:
    void bit(bool value, BitModel& model) { coder_.encode(value, model, NumberModel::kLimit); }

    void write_uncoded(std::uint64_t digits, int count) {
        for (int i = count - 1; i >= 0; --i) coder_.encode(digits >> i & 1, 1u << 15);
    }

    RangeEncoder coder_;
};

class NumberReader {
public:
    NumberReader(const std::uint8_t* bytes, std::size_t count) : coder_(bytes, count) {}

    std::int64_t read(NumberModel& model, int low, std::int64_t previous) {
        int length = 0;
        while (length + low < 64 && bit(model.longer[std::min(length, NumberModel::kLengths - 1)])) ++length;
        const int head = std::min(length, NumberModel::kHeads - 1);
        std::uint64_t size = length > 0;
        if (length >= 2) size = size << 1 | static_cast<std::uint64_t>(bit(model.second[head]));
        if (length >= 3) size = size << 1 | static_cast<std::uint64_t>(bit(model.third[head][size & 1]));
        for (int i = std::max(length - 3, 0) + low; i > 0; --i)
            size = size << 1 | static_cast<std::uint64_t>(coder_.decode(1u << 15));
        const bool negative = size && bit(model.negative[NumberModel::sign_of(previous)]);
        return static_cast<std::int64_t>(negative ? 0 - size : size);
    }

    // Throws if the numbers continue after the end of the bytes.
    void check() const {
        if (coder_.n_beyond() > 4) throw CodingError("the bytes end too early");
    }

    // Throws if the last number read is not the last one written.
    void finish() {
        const bool more = coder_.decode(1u << 15);
        check();
        if (more) throw CodingError("there are more numbers than expected");
    }

private:
    bool bit(BitModel& model) { return coder_.decode(model, NumberModel::kLimit); }

    RangeDecoder coder_;
};

}  // namespace keypose
