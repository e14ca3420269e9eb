// SIMD types (an extension of gcc and clang). KEYPOSE_VECTOR functions are compiled twice: with and without fused
// multiply-add; the processor decides which one runs.
#pragma once
#include <cmath>

// Function multiversioning, resolved at program start, needs gcc and glibc.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#define KEYPOSE_VECTOR __attribute__((target_clones("fma", "default")))
#else
#define KEYPOSE_VECTOR
#endif

// For functions called from a KEYPOSE_VECTOR function: without inlining they are compiled without FMA.
#define KEYPOSE_INLINE inline __attribute__((always_inline))

namespace keypose {

typedef double Four __attribute__((vector_size(32)));
typedef double LooseFour __attribute__((vector_size(32), aligned(8), may_alias));  // unaligned
typedef long long FourBits __attribute__((vector_size(32)));

KEYPOSE_INLINE Four four(const double* values) { return Four{values[0], values[1], values[2], values[3]}; }
KEYPOSE_INLINE Four root(Four v) { return Four{std::sqrt(v[0]), std::sqrt(v[1]), std::sqrt(v[2]), std::sqrt(v[3])}; }
KEYPOSE_INLINE Four magnitude(Four v) { return Four(FourBits(v) & (FourBits{} + 0x7fffffffffffffffLL)); }

inline unsigned lowest_bit(unsigned long long bits) { return static_cast<unsigned>(__builtin_ctzll(bits)); }

}  // namespace keypose
