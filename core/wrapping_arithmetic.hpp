// Integer arithmetic that wraps around at 2^64 and shifts that round down: identical on every machine.
#pragma once

#include <cstdint>

namespace keypose {

inline std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }
inline std::int64_t add(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) + bits(b)); }
inline std::int64_t subtract(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) - bits(b)); }
inline std::int64_t multiply(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) * bits(b)); }
inline std::int64_t shift_down(std::int64_t x, int shift) { return x >= 0 ? x >> shift : ~(~x >> shift); }

// The number modulo `wrap`, in [-wrap / 2, wrap / 2).
inline std::int64_t wrap_to_half_range(std::int64_t x, std::int64_t wrap) {
    const std::int64_t rest = add(x, wrap / 2) % wrap;
    return (rest < 0 ? rest + wrap : rest) - wrap / 2;
}

}  // namespace keypose
