// Checks of the arguments that Python passes. Every function is bound with `checked`.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <stdexcept>
#include <utility>

namespace keypose {

constexpr std::size_t kMaxLength = std::size_t{1} << 27;  // of counts of frames that no array in memory confirms
constexpr unsigned kMaxThreads = 256;

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

inline void require_threads(unsigned threads) { require(threads <= kMaxThreads, "threads must be at most 256"); }

template <class T>
void check_argument(const T&) {}

// An array without values may have any length at no cost in memory, but loops over it take time, and products with its
// length overflow.
template <class... Config>
void check_argument(const nanobind::ndarray<Config...>& array) {
    for (std::size_t i = 0; i < array.ndim(); ++i)
        require(array.size() > 0 || array.shape(i) <= kMaxLength, "an array without values is too long");
}

// Returns the function with a check of the lengths of its arrays.
template <class Result, class... Arguments>
auto checked(Result (*function)(Arguments...)) {
    return [function](Arguments... arguments) -> Result {
        (check_argument(arguments), ...);
        return function(std::forward<Arguments>(arguments)...);
    };
}

}  // namespace keypose
