// Sums that wrap around at 2^64 and shifts that round down: the same on every machine.
#pragma once

#include <cstdint>

namespace keypose {

inline std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }
inline std::int64_t plus(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) + bits(b)); }
inline std::int64_t minus(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) - bits(b)); }
inline std::int64_t times(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(bits(a) * bits(b)); }
inline std::int64_t down(std::int64_t x, int shift) { return x >= 0 ? x >> shift : ~(~x >> shift); }

// The number's place in turns of `wrap`, from -wrap / 2 on.
inline std::int64_t within(std::int64_t x, std::int64_t wrap) {
    const std::int64_t rest = plus(x, wrap / 2) % wrap;
    return (rest < 0 ? rest + wrap : rest) - wrap / 2;
}

}  // namespace keypose
