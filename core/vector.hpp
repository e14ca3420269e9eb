// Vector code (an extension of gcc and clang), with fused multiply-add for processors that have it beside plain code.
#pragma once
#include <cmath>

// Several versions of a function, one chosen when the program starts, take gcc and glibc.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#define KEYPOSE_VECTOR __attribute__((target_clones("fma", "default")))
#else
#define KEYPOSE_VECTOR
#endif

// What a vector function calls must become part of it, else it stays plain code.
#define KEYPOSE_INLINE inline __attribute__((always_inline))

namespace keypose {

typedef double Four __attribute__((vector_size(32)));
typedef double LooseFour __attribute__((vector_size(32), aligned(8), may_alias));  // anywhere among doubles
typedef long long FourBits __attribute__((vector_size(32)));

KEYPOSE_INLINE Four four(const double* values) { return Four{values[0], values[1], values[2], values[3]}; }
KEYPOSE_INLINE Four root(Four v) { return Four{std::sqrt(v[0]), std::sqrt(v[1]), std::sqrt(v[2]), std::sqrt(v[3])}; }
KEYPOSE_INLINE Four magnitude(Four v) { return Four(FourBits(v) & (FourBits{} + 0x7fffffffffffffffLL)); }

inline unsigned lowest_bit(unsigned long long bits) { return static_cast<unsigned>(__builtin_ctzll(bits)); }

}  // namespace keypose
